"""A value of another type is assigned."""

from typing import Dict


def main(x: Dict[str, int]):
    x["a"] = "b"
    return x

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!):
#   Could not match type Dict[str, int] to List[t] in argument 'l': Cannot match List[t] to Dict[str, int].
#
#   aten::_set_item.str(Dict(str, t)(a!) l, str(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type str to t in argument 'v': Type variable 't' previously matched to type int is matched to type str.
#
#   aten::_set_item.int(Dict(int, t)(a!) l, int(b -> *) idx, t(c -> *) v) -> ():
#   Expected a value of type 'Dict[int, t]' for argument 'l' but instead found type 'Dict[str, int]'.
#
#   aten::_set_item.bool(Dict(bool, t)(a!) l, bool(b -> *) idx, t(c -> *) v) -> ():
#   Expected a value of type 'Dict[bool, t]' for argument 'l' but instead found type 'Dict[str, int]'.
#
#   aten::_set_item.float(Dict(float, t)(a!) l, float(b -> *) idx, t(c -> *) v) -> ():
#   Expected a value of type 'Dict[float, t]' for argument 'l' but instead found type 'Dict[str, int]'.
#
#   aten::_set_item.complex(Dict(complex, t)(a!) l, complex(b -> *) idx, t(c -> *) v) -> ():
#   Expected a value of type 'Dict[complex, t]' for argument 'l' but instead found type 'Dict[str, int]'.
#
#   aten::_set_item.Tensor(Dict(Tensor, t)(a!) l, Tensor(b -> *) idx, t(c -> *) v) -> ():
#   Expected a value of type 'Dict[Tensor, t]' for argument 'l' but instead found type 'Dict[str, int]'.
#
# The original call is:
#   File "dict_item_assigned.py", line 7
# def main(x: Dict[str, int]):
#     x["a"] = "b"
#     ~~~~~~~~~~~ <--- HERE
#     return x
