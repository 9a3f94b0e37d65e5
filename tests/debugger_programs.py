"""Programs for transcripts in `test_debugger.py`, which contain line numbers: append new programs."""

from typing import List

import ts
from ts import nn


class Account:
    def __init__(self, owner: str, balance: int):
        self.owner = owner
        self.history: List[int] = []
        self.balance = balance

    def deposit(self, amount: int) -> int:
        self.balance += amount
        self.history.append(amount)
        return self.balance


def save(amounts: List[int]) -> int:
    account = Account("ann", 10)
    for amount in amounts:
        account.deposit(amount)
    return account.balance


class Scale(nn.Module):
    def __init__(self, by: float):
        super().__init__()
        self.by = by

    def forward(self, x):
        y = x * self.by
        return y


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Scale(2.0)
        self.second = Scale(3.0)

    def forward(self, x):
        x = self.first(x)
        x = self.second(x)
        return x


@ts.jit.interface
class Shape:
    def area(self) -> float:
        pass


class Square:
    def __init__(self, side: float):
        self.side = side

    def area(self) -> float:
        area = self.side * self.side
        return area


def doubled_area(side: float) -> float:
    shape: Shape = Square(side)
    return 2.0 * shape.area()


def task(x: int) -> int:
    y = x * 10
    return y + 1


def tasks(n: int) -> int:
    futures: List[ts.jit.Future[int]] = []
    for i in range(n):
        futures.append(ts.jit.fork(task, i))
    total = 0
    for future in futures:
        total += ts.jit.wait(future)
    return total


def failing_task(n: int) -> int:
    future = ts.jit.fork(element, [1, 2], n)
    return ts.jit.wait(future)


def element(xs: List[int], i: int) -> int:
    return xs[i]


def to_third(n: int) -> int:
    total = 0
    for i in range(n):
        if i == 2:
            breakpoint()
        total += i
    return total


def calls_to_third(n: int) -> int:
    return to_third(n) + 1


def forever() -> int:
    n = 0
    while True:
        n += 1
    return n
