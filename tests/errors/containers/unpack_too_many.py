"""A tuple is unpacked into fewer names than it has elements."""

from typing import Tuple


def main(x: Tuple[int, int, int]):
    a, b = x
    return a

# error: CompilationError
# too many values to unpack: need 2 but found 3:
#   File "unpack_too_many.py", line 7
# def main(x: Tuple[int, int, int]):
#     a, b = x
#     ~~~~ <--- HERE
#     return a
