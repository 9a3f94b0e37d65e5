"""An index out of range raises an error, although the element is unused."""

from typing import List


def main():
    xs: List[int] = [1, 2]
    for _ in xs:
        pass
    unused = xs[2]  # expect runtime error: list index out of range
# not in PyTorch: it removes unused expressions together with their errors
