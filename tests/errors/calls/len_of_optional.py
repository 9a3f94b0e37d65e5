"""`len` of an Optional that is not refined: PyTorch converts it to a list of length 1."""

from typing import List, Optional

# torch: main() is missing value for argument 'x'. Declaration: main(int[]? x) -> int


def main(x: Optional[List[int]]):
    return len(x)

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::len.t(t[] a) -> int:
#   Could not match type Optional[List[int]] to List[t] in argument 'a': Cannot match List[t] to Optional[List[int]].
#
#   aten::len.Tensor(Tensor t) -> int:
#   Expected a value of type 'Tensor' for argument 't' but instead found type 'Optional[List[int]]'.
#
#   aten::len.str(str s) -> int:
#   Expected a value of type 'str' for argument 's' but instead found type 'Optional[List[int]]'.
#
#   aten::len.Dict_str(Dict(str, t) self) -> int:
#   Could not match type Optional[List[int]] to Dict[str, t] in argument 'self': Cannot match a dict to Optional[List[int]].
#
#   aten::len.Dict_int(Dict(int, t) self) -> int:
#   Could not match type Optional[List[int]] to Dict[int, t] in argument 'self': Cannot match a dict to Optional[List[int]].
#
#   aten::len.Dict_bool(Dict(bool, t) self) -> int:
#   Could not match type Optional[List[int]] to Dict[bool, t] in argument 'self': Cannot match a dict to Optional[List[int]].
#
#   and 4 other overloads, which match no better.
#
# The original call is:
#   File "len_of_optional.py", line 9
# def main(x: Optional[List[int]]):
#     return len(x)
#            ~~~ <--- HERE
# Hint: the value may be None; test it with `is not None` first, which refines its type
