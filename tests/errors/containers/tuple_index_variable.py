"""A tuple with elements of different types is indexed with a variable."""

from typing import Tuple


def main(x: Tuple[int, str], i: int):
    return x[i]

# error: CompilationError
# Cannot index into a Tuple[int, str] with a non-integer literal because we cannot resolve the output type:
#   File "tuple_index_variable.py", line 7
# def main(x: Tuple[int, str], i: int):
#     return x[i]
#            ~~~~ <--- HERE
# Hint: use a list, whose items are of one type
