"""`assert` with a list as its condition."""

from typing import List


def main(x: List[int]):
    assert x, "empty"

# error: RuntimeError
# main() is missing value for argument 'x'. Declaration: main(int[] x) -> NoneType
