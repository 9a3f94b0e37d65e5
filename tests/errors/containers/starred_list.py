"""A list as a starred argument: its length is unknown at compile time."""

from typing import List


def main(x: List[int]):
    return max(*x)

# error: CompilationError
# cannot statically infer the expected size of a list in this context:
#   File "starred_list.py", line 7
# def main(x: List[int]):
#     return max(*x)
#                ~~ <--- HERE
# Hint: the length of a list is unknown at compile time; use a tuple, or pass the list itself
