"""An unsupported generic type."""

from typing import Set


def main(x: Set[int]):
    return 1

# error: CompilationError
# Unknown type constructor Set:
#   File "unknown_constructor.py", line 6
# def main(x: Set[int]):
#             ~~~~~~~~ <--- HERE
#     return 1
# Hint: scripts do not support sets; use the keys of a dict
