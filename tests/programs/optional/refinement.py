"""An Optional is refined by `is None`."""
# rule: optional.refined

from typing import Optional


def size(x: Optional[str]) -> int:
    if x is None:
        return -1
    return len(x)


def other(x: Optional[int]) -> int:
    if x is not None and x > 3:
        return x
    return 0


def main():
    print(size(None), size("abc"))  # expect: -1 3
    print(other(5), other(None), other(1))  # expect: 5 0 0
