"""`zip` of a tuple and a list."""

from typing import List, Tuple


def main(x: Tuple[int, str], y: List[int]):
    for i, j in zip(x, y):
        print(i, j)

# error: CompilationError
# Can not iterate over a module list or tuple with a value that does not have a statically determinable length; use a list instead of the tuple
# :
#   File "zip_with_tuple.py", line 7
# def main(x: Tuple[int, str], y: List[int]):
#     for i, j in zip(x, y):
#                 ~~~~~~~~ <--- HERE
#         print(i, j)
