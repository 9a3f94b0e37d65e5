"""A text is no index of a list."""

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
#   aten::__getitem__.str(str s, int index) -> str:
#   Expected a value of type 'str' for argument 's' but instead found type 'List[int]'.
#
#   aten::__getitem__.Dict_str(Dict(str, t) self, str key) -> t(*):
#   Could not match type List[int] to Dict[str, t] in argument 'self': Cannot match a dict to List[int].
#
#   aten::__getitem__.Dict_int(Dict(int, t) self, int key) -> t(*):
#   Could not match type List[int] to Dict[int, t] in argument 'self': Cannot match a dict to List[int].
#
#   aten::__getitem__.Dict_bool(Dict(bool, t) self, bool key) -> t(*):
#   Could not match type List[int] to Dict[bool, t] in argument 'self': Cannot match a dict to List[int].
#
#   aten::__getitem__.Dict_float(Dict(float, t) self, float key) -> t(*):
#   Could not match type List[int] to Dict[float, t] in argument 'self': Cannot match a dict to List[int].
#
#   aten::__getitem__.Dict_complex(Dict(complex, t) self, complex key) -> t(*):
#   Could not match type List[int] to Dict[complex, t] in argument 'self': Cannot match a dict to List[int].
#
#   aten::__getitem__.Dict_Tensor(Dict(Tensor, t) self, Tensor key) -> t(*):
#   Could not match type List[int] to Dict[Tensor, t] in argument 'self': Cannot match a dict to List[int].
#
# The original call is:
#   File "list_index.py", line 7
# def main(x: List[int]):
#     return x["a"]
#            ~~~~~ <--- HERE
# Hint: found List[int] and str
