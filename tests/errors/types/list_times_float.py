"""A list is multiplied by a float."""

from typing import List


def main(xs: List[int]):
    return xs * 2.0

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::mul.left_t(t[] l, int n) -> t[]:
#   Expected a value of type 'int' for argument 'n' but instead found type 'float'.
#
#   and 18 other overloads, which match no better.
#
# The original call is:
#   File "list_times_float.py", line 7
# def main(xs: List[int]):
#     return xs * 2.0
#            ~~~~~~~~ <--- HERE
# Hint: found List[int] and float
