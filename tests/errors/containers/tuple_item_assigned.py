"""An element of a tuple is assigned."""

from typing import Tuple


def main(x: Tuple[int, int]):
    x[0] = 1
    return x

# error: CompilationError
# Tuple[int, int] does not support subscripted assignment:
#   File "tuple_item_assigned.py", line 7
# def main(x: Tuple[int, int]):
#     x[0] = 1
#     ~~~~ <--- HERE
#     return x
