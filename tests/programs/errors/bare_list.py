"""`List` requires an element type."""

from typing import List


def f(x: List) -> int:  # expect error: Attempted to use List without a contained type
    return 1


def main():
    return f([1])
