"""`with` statements have PyTorch's graphs and printed source."""

from typing import Any

import pytest

import ts

torch = pytest.importorskip("torch")


class Context:
    def __init__(self, x: int):
        self.x = x

    def __enter__(self) -> int:
        self.x += 1
        return self.x

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        self.x -= 1


def named(n: int):
    with Context(n) as k:
        n = n + k
    return n


def two_with_return(n: int):
    c = Context(n)
    with c, Context(2) as b:
        n += b
        if n > 3:
            return n
    return c.x


def no_grad(x):
    with torch.no_grad():
        y = x * 2
    return y


def in_loop(n: int):
    for i in range(n):
        with Context(i):
            if i > 2:
                break
            print(i)
    return n


def nested(n: int):
    with Context(n) as a:
        with Context(a) as b:
            if b > 4:
                n += b
            else:
                n -= a
        n += a
    return n


def raising(n: int):
    with Context(n):
        if n > 2:
            raise ValueError("large")
    return n


@pytest.mark.parametrize("function", [named, two_with_return, no_grad, in_loop, nested, raising])
def test_code_and_graph(function):
    ours, theirs = ts.jit.script(function), torch.jit.script(function)
    assert ours.code == theirs.code
    assert str(ours.graph) == str(theirs.graph)


@pytest.mark.parametrize("function", [named, two_with_return, in_loop, nested])
def test_results(function):
    ours, theirs = ts.jit.script(function), torch.jit.script(function)
    for n in range(6):
        assert ours(n) == theirs(n) == function(n)
