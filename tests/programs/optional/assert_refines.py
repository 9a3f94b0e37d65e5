"""`assert` refines an Optional, and so does `or` with a default."""
# rule: optional.refined

from typing import Optional


def f(x: Optional[int]) -> int:
    assert x is not None
    return x + 1


def g(x: Optional[int]) -> int:
    y = 10 if x is None else x
    return y


def main():
    print(f(1), g(None), g(2))  # expect: 2 10 2
