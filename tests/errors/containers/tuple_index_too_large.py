"""The index of a tuple is out of range."""

from typing import Tuple


def main(x: Tuple[int, str]):
    return x[2]

# error: CompilationError
# Tuple index out of range. Tuple is length 2 and index is 2:
#   File "tuple_index_too_large.py", line 7
# def main(x: Tuple[int, str]):
#     return x[2]
#            ~~~~ <--- HERE
