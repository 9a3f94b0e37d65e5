"""A tuple annotation with an ellipsis (variable length)."""

from typing import Tuple


def main(x: Tuple[int, ...]):
    return x

# error: CompilationError
# Expression of type dots cannot be used in a type expression:
#   File "tuple_of_any_length.py", line 6
# def main(x: Tuple[int, ...]):
#                        ~~~ <--- HERE
#     return x
