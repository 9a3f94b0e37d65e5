"""An assignment with two starred targets."""

from typing import Tuple

UNIT = """
def main(x: Tuple[int, int]):
    *a, *b = x
    return a
"""

# error: CompilationError
# Only one starred expression is allowed on the lhs:
#   File "<string>", line 3
#
# def main(x: Tuple[int, int]):
#     *a, *b = x
#         ~~ <--- HERE
#     return a
