"""Tuples: indexing, length, unpacking, comparison."""
# rule: tuple, parentheses, comparison.containers

from typing import Tuple


def pair(x: int) -> Tuple[int, str]:
    return x, "n"


def main():
    t = (1, 2.5, "x")
    print(t[0], t[-1], len(t))  # expect: 1 x 3
    n, s = pair(4)
    print(n, s, pair(2)[1])  # expect: 4 n n
    print((1, 2) == (1, 2), t[:2])  # expect: True (1, 2.5)
