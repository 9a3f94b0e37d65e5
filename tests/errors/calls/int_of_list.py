"""`int` of a list."""

from typing import List


def main(x: List[int]):
    return int(x)

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::Int.Tensor(Tensor a) -> int:
#   Expected a value of type 'Tensor' for argument 'a' but instead found type 'List[int]'.
#
#   aten::Int.bool(bool a) -> int:
#   Expected a value of type 'bool' for argument 'a' but instead found type 'List[int]'.
#
#   aten::Int.float(float a) -> int:
#   Expected a value of type 'float' for argument 'a' but instead found type 'List[int]'.
#
#   aten::Int.Scalar(Scalar a) -> int:
#   Expected a value of type 'number' for argument 'a' but instead found type 'List[int]'.
#
#   aten::Int.str(str a) -> int:
#   Expected a value of type 'str' for argument 'a' but instead found type 'List[int]'.
#
# The original call is:
#   File "int_of_list.py", line 7
# def main(x: List[int]):
#     return int(x)
#            ~~~ <--- HERE
