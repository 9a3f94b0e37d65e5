"""A key of another type."""

from typing import Dict


def main(x: Dict[str, int]):
    return x[1]

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::__getitem__.t(t[](a) list, int idx) -> t(*):
#   Could not match type Dict[str, int] to List[t] in argument 'list': Cannot match List[t] to Dict[str, int].
#
#   aten::__getitem__.str(str s, int index) -> str:
#   Expected a value of type 'str' for argument 's' but instead found type 'Dict[str, int]'.
#
#   aten::__getitem__.Dict_str(Dict(str, t) self, str key) -> t(*):
#   Expected a value of type 'str' for argument 'key' but instead found type 'int'.
#
#   aten::__getitem__.Dict_int(Dict(int, t) self, int key) -> t(*):
#   Expected a value of type 'Dict[int, t]' for argument 'self' but instead found type 'Dict[str, int]'.
#
#   aten::__getitem__.Dict_bool(Dict(bool, t) self, bool key) -> t(*):
#   Expected a value of type 'Dict[bool, t]' for argument 'self' but instead found type 'Dict[str, int]'.
#
#   aten::__getitem__.Dict_float(Dict(float, t) self, float key) -> t(*):
#   Expected a value of type 'Dict[float, t]' for argument 'self' but instead found type 'Dict[str, int]'.
#
#   aten::__getitem__.Dict_complex(Dict(complex, t) self, complex key) -> t(*):
#   Expected a value of type 'Dict[complex, t]' for argument 'self' but instead found type 'Dict[str, int]'.
#
#   aten::__getitem__.Dict_Tensor(Dict(Tensor, t) self, Tensor key) -> t(*):
#   Expected a value of type 'Dict[Tensor, t]' for argument 'self' but instead found type 'Dict[str, int]'.
#
# The original call is:
#   File "dict_index.py", line 7
# def main(x: Dict[str, int]):
#     return x[1]
#            ~~~~ <--- HERE
# Hint: found Dict[str, int] and int
