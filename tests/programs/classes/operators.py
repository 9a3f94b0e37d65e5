"""Operators and builtins applied to objects call their magic methods."""

from typing import List


class Vector:
    def __init__(self, items: List[int]):
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, i: int) -> int:
        return self.items[i]

    def __contains__(self, x: int) -> bool:
        return x in self.items

    def __add__(self, other: "Vector") -> "Vector":
        return Vector(self.items + other.items)

    def __mul__(self, k: int) -> "Vector":
        return Vector([x * k for x in self.items])

    def __neg__(self) -> "Vector":
        return Vector([-x for x in self.items])

    def __eq__(self, other: "Vector") -> bool:
        return self.items == other.items

    def __lt__(self, other: "Vector") -> bool:
        return len(self.items) < len(other.items)

    def __bool__(self) -> bool:
        return len(self.items) > 0

    def __int__(self) -> int:
        return sum(self.items)

    def __str__(self) -> str:
        return "vector of " + str(len(self.items))


def main():
    v = Vector([1, 2, 3])
    w = Vector([4])
    print(len(v), v[1], 2 in v, 7 in v)  # expect: 3 2 True False
    print((v + w).items, (v * 2).items, (-v).items)  # expect: [1, 2, 3, 4] [2, 4, 6] [-1, -2, -3]
    print(v == w, v == Vector([1, 2, 3]), w < v)  # expect: False True True
    print(int(v), str(v + w), "yes" if Vector([]) else "no")  # expect: 6 vector of 4 no
