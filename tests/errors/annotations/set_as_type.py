"""A set as an annotation."""

from typing import Set


def main(x: Set[int]):
    return len(x)

# error: CompilationError
# Unknown type constructor Set:
#   File "set_as_type.py", line 6
# def main(x: Set[int]):
#             ~~~~~~~~ <--- HERE
#     return len(x)
# Hint: scripts do not support sets; use the keys of a dict
