"""A string as the index of a list."""

from typing import List


def main(x: List[int]):
    return x["a"]

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::__getitem__.t(t[](a) list, int idx) -> t(*):
#   Expected a value of type 'int' for argument 'idx' but instead found type 'str'.
#
#   and 7 other overloads, which match no better.
#
# The original call is:
#   File "list_index.py", line 7
# def main(x: List[int]):
#     return x["a"]
#            ~~~~~ <--- HERE
# Hint: found List[int] and str
