"""An element of another type is assigned."""

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
#   aten::_set_item.str(Dict(str, t)(a!) l, str(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type List[int] to Dict[str, t] in argument 'l': Cannot match a dict to List[int].
#
#   aten::_set_item.int(Dict(int, t)(a!) l, int(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type List[int] to Dict[int, t] in argument 'l': Cannot match a dict to List[int].
#
#   aten::_set_item.bool(Dict(bool, t)(a!) l, bool(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type List[int] to Dict[bool, t] in argument 'l': Cannot match a dict to List[int].
#
#   aten::_set_item.float(Dict(float, t)(a!) l, float(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type List[int] to Dict[float, t] in argument 'l': Cannot match a dict to List[int].
#
#   aten::_set_item.complex(Dict(complex, t)(a!) l, complex(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type List[int] to Dict[complex, t] in argument 'l': Cannot match a dict to List[int].
#
#   aten::_set_item.Tensor(Dict(Tensor, t)(a!) l, Tensor(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type List[int] to Dict[Tensor, t] in argument 'l': Cannot match a dict to List[int].
#
# The original call is:
#   File "list_item_assigned.py", line 7
# def main(x: List[int]):
#     x[0] = "a"
#     ~~~~~~~~~ <--- HERE
#     return x
