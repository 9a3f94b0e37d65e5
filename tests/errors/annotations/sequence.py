"""An abstract container class as an annotation."""

from typing import Sequence


def main(x: Sequence[int]):
    return x[0]

# error: CompilationError
# Unknown type constructor Sequence:
#   File "sequence.py", line 6
# def main(x: Sequence[int]):
#             ~~~~~~~~~~~~~ <--- HERE
#     return x[0]
# Hint: write `List[int]`
