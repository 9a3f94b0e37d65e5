"""A tuple as a condition."""

from typing import Tuple


def main(x: Tuple[int, int]):
    while x:
        pass
    return 0

# error: CompilationError
# Could not cast value of type Tuple[int, int] to bool:
#   File "condition_of_tuple.py", line 7
# def main(x: Tuple[int, int]):
#     while x:
#           ~ <--- HERE
#         pass
#     return 0
