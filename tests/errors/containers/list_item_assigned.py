"""A value of another type is assigned to a list element."""

from typing import List


def main(x: List[int]):
    x[0] = "a"
    return x

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!):
#   Could not match type str to t in argument 'el': Type variable 't' previously matched to type int is matched to type str.
#
#   and 6 other overloads, which match no better.
#
# The original call is:
#   File "list_item_assigned.py", line 7
# def main(x: List[int]):
#     x[0] = "a"
#     ~~~~~~~~~ <--- HERE
#     return x
