"""A tuple is unpacked into more names than it has elements."""

from typing import Tuple


def main(x: Tuple[int, int]):
    a, b, c = x
    return a

# error: CompilationError
# need 3 values to unpack but found only 2:
#   File "unpack_too_few.py", line 7
# def main(x: Tuple[int, int]):
#     a, b, c = x
#     ~~~~~~~ <--- HERE
#     return a
