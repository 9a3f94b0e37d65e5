"""The condition of an `assert` on an Optional that is None."""

from typing import Optional


def f(x: Optional[int]) -> int:
    assert x is not None, "need a number"  # expect runtime error: need a number
    return x


def main():
    print(f(1))  # expect: 1
    print(f(None))
