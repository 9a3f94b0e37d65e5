"""`boolean_dispatch` selects one of two functions by a constant argument."""
# not in PyTorch: it has the function under a private name only.

from typing import Tuple

import ts


def with_index(x: int, index: bool = False) -> Tuple[int, int]:
    return x, 0


def without_index(x: int, index: bool = False) -> int:
    return x


find = ts.jit.boolean_dispatch("index", 1, False, with_index, without_index)


def main():
    print(find(3) + 1)  # expect: 4
    value, at = find(4, True)
    print(value, at)  # expect: 4 0
    print(find(5, index=False) * 2)  # expect: 10
