"""`annotate` with one argument instead of two."""

from typing import List

import ts


def main(x: int):
    return ts.jit.annotate(List[int])


# torch: unknown:0: expecting kind 'variable' but found '.'

# error: CompilationError
# annotate expected exactly 2 arguments but found 1:
#   File "annotate_of_one.py", line 9
# def main(x: int):
#     return ts.jit.annotate(List[int])
#            ~~~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE
