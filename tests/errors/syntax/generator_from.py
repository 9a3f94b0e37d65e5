"""A generator function with `yield from`."""

from typing import List


def main(x: List[int]):
    yield from x

# error: UnsupportedNodeError
# YieldFrom aren't supported; append to a list and return it:
#   File "generator_from.py", line 7
# def main(x: List[int]):
#     yield from x
#     ~ <--- HERE
