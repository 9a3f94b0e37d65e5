"""A value of another type is assigned to a dict entry."""

from typing import Dict


def main(x: Dict[str, int]):
    x["a"] = "b"
    return x

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::_set_item.str(Dict(str, t)(a!) l, str(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type str to t in argument 'v': Type variable 't' previously matched to type int is matched to type str.
#
#   and 6 other overloads, which match no better.
#
# The original call is:
#   File "dict_item_assigned.py", line 7
# def main(x: Dict[str, int]):
#     x["a"] = "b"
#     ~~~~~~~~~~~ <--- HERE
#     return x
