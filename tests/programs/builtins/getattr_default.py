"""A default for an attribute that is not there."""

from typing import NamedTuple


class Point(NamedTuple):
    x: int
    y: int


def main():
    p = Point(1, 2)
    print(getattr(p, "x", 7), getattr(p, "z", 7), hasattr(p, "y"))  # expect: 1 7 True
