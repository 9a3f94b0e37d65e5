"""A slice in the brackets of a type."""

from typing import List


def main(x: List[:]):
    return x

# torch: Expression of type slice expr cannot be used in a type expression

# error: CompilationError
# Expression of type slice cannot be used in a type expression:
#   File "empty_slice.py", line 6
# def main(x: List[:]):
#                  ~ <--- HERE
#     return x
