"""`List` without an element type."""

from typing import List


def main(x: List):
    return 1

# error: CompilationError
# Attempted to use List without a contained type. Please add a contained type, e.g. List[int]:
#   File "bare_list.py", line 6
# def main(x: List):
#             ~~~~ <--- HERE
#     return 1
