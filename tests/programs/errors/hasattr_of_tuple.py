"""`hasattr` of a tuple without field names."""

from typing import Tuple


def f(pair: Tuple[int, int]) -> bool:
    return hasattr(pair, "first")  # expect error: hasattr's first argument must be a object or NamedTuple


def main():
    return f((1, 2))
