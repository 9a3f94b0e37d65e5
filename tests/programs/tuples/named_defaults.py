"""NamedTuples: defaults, keywords, nesting, unpacking, results."""

from typing import List, NamedTuple


class Point(NamedTuple):
    x: int
    y: float = 2.5


class Pair(NamedTuple):
    first: Point
    rest: List[int]


def moved(p: Point, by: int) -> Point:
    return Point(p.x + by, y=p.y * 2)


def main():
    p = Point(1)
    print(p.x, p.y)  # expect: 1 2.5
    q = moved(p, 3)
    x, y = q
    print(x, y, q[0], len(q))  # expect: 4 5. 4 2 (python: 4 5.0 4 2)
    pair = Pair(rest=[1, 2], first=q)
    print(pair.first.x, pair.rest)  # expect: 4 [1, 2]
