"""`annotate` of an expression that has another type."""

from typing import List

import ts


def main(x: int):
    return ts.jit.annotate(List[int], x)

# error: CompilationError
# expected an expression of type List[int] but found int:
#   File "annotate_mismatch.py", line 9
# def main(x: int):
#     return ts.jit.annotate(List[int], x)
#                                       ~ <--- HERE
