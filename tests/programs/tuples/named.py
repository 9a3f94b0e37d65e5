"""A NamedTuple class that is defined outside of the function."""
# rule: namedtuple.class

from typing import NamedTuple


class Point(NamedTuple):
    x: int
    y: int


def move(p: Point, by: int) -> Point:
    return Point(p.x + by, p.y)


def main():
    p = move(Point(1, 2), 5)
    print(p.x, p.y, p[0])  # expect: 6 2 6
