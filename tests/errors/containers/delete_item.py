"""An element of another key."""

from typing import Dict


def main(x: Dict[str, int]):
    del x[1]
    return x


# torch: 0 INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/torch/csrc/jit/ir/alias_analysis.cpp":623, please report a bug to PyTorch. We don't have an op for aten::Delete but it isn't a special case.  Argument types: Dict(str, int), int,

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::Delete.t(t[](a!) self, int idx) -> ():
#   Could not match type Dict[str, int] to List[t] in argument 'self': Cannot match List[t] to Dict[str, int].
#
#   aten::Delete.Dict_str(Dict(str, t)(a!) self, str key) -> ():
#   Expected a value of type 'str' for argument 'key' but instead found type 'int'.
#
#   aten::Delete.Dict_int(Dict(int, t)(a!) self, int key) -> ():
#   Expected a value of type 'Dict[int, t]' for argument 'self' but instead found type 'Dict[str, int]'.
#
#   aten::Delete.Dict_bool(Dict(bool, t)(a!) self, bool key) -> ():
#   Expected a value of type 'Dict[bool, t]' for argument 'self' but instead found type 'Dict[str, int]'.
#
#   aten::Delete.Dict_float(Dict(float, t)(a!) self, float key) -> ():
#   Expected a value of type 'Dict[float, t]' for argument 'self' but instead found type 'Dict[str, int]'.
#
#   aten::Delete.Dict_complex(Dict(complex, t)(a!) self, complex key) -> ():
#   Expected a value of type 'Dict[complex, t]' for argument 'self' but instead found type 'Dict[str, int]'.
#
#   aten::Delete.Dict_Tensor(Dict(Tensor, t)(a!) self, Tensor key) -> ():
#   Expected a value of type 'Dict[Tensor, t]' for argument 'self' but instead found type 'Dict[str, int]'.
#
# The original call is:
#   File "delete_item.py", line 7
# def main(x: Dict[str, int]):
#     del x[1]
#         ~~~~ <--- HERE
#     return x
# Hint: found Dict[str, int] and int
