"""A list comprehension over a tuple returns elements of different types."""

from typing import Tuple


def main(t: Tuple[int, str]):
    return [x for x in t]

# error: CompilationError
# List type annotation `List[int]` did not match the types of the given list elements, which were unified to Union[int, str]:
#   File "comprehension_over_tuple.py", line 7
# def main(t: Tuple[int, str]):
#     return [x for x in t]
#            ~~~~~~~~~~~~~ <--- HERE
