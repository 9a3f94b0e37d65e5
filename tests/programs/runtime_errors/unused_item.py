"""An index out of range, though nobody reads the item."""

from typing import List


def main():
    xs: List[int] = [1, 2]
    for _ in xs:
        pass
    unused = xs[2]  # expect runtime error: list index out of range
# not in PyTorch: it drops what nobody reads, and the failure with it
