"""Texts do not change."""


def main(x: str):
    x[0] = "a"
    return x

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!):
#   Could not match type str to List[t] in argument 'l': Cannot match List[t] to str.
#
#   aten::_set_item.str(Dict(str, t)(a!) l, str(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type str to Dict[str, t] in argument 'l': Cannot match a dict to str.
#
#   aten::_set_item.int(Dict(int, t)(a!) l, int(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type str to Dict[int, t] in argument 'l': Cannot match a dict to str.
#
#   aten::_set_item.bool(Dict(bool, t)(a!) l, bool(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type str to Dict[bool, t] in argument 'l': Cannot match a dict to str.
#
#   aten::_set_item.float(Dict(float, t)(a!) l, float(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type str to Dict[float, t] in argument 'l': Cannot match a dict to str.
#
#   aten::_set_item.complex(Dict(complex, t)(a!) l, complex(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type str to Dict[complex, t] in argument 'l': Cannot match a dict to str.
#
#   aten::_set_item.Tensor(Dict(Tensor, t)(a!) l, Tensor(b -> *) idx, t(c -> *) v) -> ():
#   Could not match type str to Dict[Tensor, t] in argument 'l': Cannot match a dict to str.
#
# The original call is:
#   File "text_item_assigned.py", line 5
# def main(x: str):
#     x[0] = "a"
#     ~~~~~~~~~ <--- HERE
#     return x
