"""`getattr` returns its default for a missing attribute."""

from typing import NamedTuple


class Point(NamedTuple):
    x: int
    y: int


def main():
    p = Point(1, 2)
    print(getattr(p, "x", 7), getattr(p, "z", 7), hasattr(p, "y"))  # expect: 1 7 True
