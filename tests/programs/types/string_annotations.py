"""Annotations that are string literals."""
# rule: annotation.string

from typing import List, Optional


def f(xs: "List[int]", y: "Optional[int]" = None) -> "int":
    total: "int" = 0
    for x in xs:
        total += x
    return total if y is None else total + y


def main():
    print(f([1, 2]), f([1, 2], 3))  # expect: 3 6
