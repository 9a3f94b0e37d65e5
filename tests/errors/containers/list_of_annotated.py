"""The element type of a list literal differs from the annotation."""

from typing import List


def main(x: int):
    y: List[str] = [x]
    return y

# error: CompilationError
# List type annotation `List[str]` did not match the types of the given list elements, which were unified to int:
#   File "list_of_annotated.py", line 7
# def main(x: int):
#     y: List[str] = [x]
#                    ~~ <--- HERE
#     return y
