"""The key type of a dict literal differs from the annotation."""

from typing import Dict


def main(x: int):
    y: Dict[str, int] = {x: x}
    return y

# error: CompilationError
# Type annotation was inferred to be Dict[str, int]but the type of keys given by the dict literal is int:
#   File "dict_annotated.py", line 7
# def main(x: int):
#     y: Dict[str, int] = {x: x}
#                         ~~~~~ <--- HERE
#     return y
