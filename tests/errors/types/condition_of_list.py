"""A list as a condition."""

from typing import List


def main(x: List[int]):
    if x:
        return 1
    return 0

# error: RuntimeError
# main() is missing value for argument 'x'. Declaration: main(int[] x) -> int
