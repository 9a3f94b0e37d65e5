"""A value of a union type as an operand."""

from typing import Union


def main(x: Union[int, str]):
    return x + 1

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'Union[int, str]'.
#
#   aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'Union[int, str]'.
#
#   aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'Union[int, str]'.
#
#   aten::add.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'Union[int, str]'.
#
#   aten::add.t(t[] a, t[] b) -> t[]:
#   Could not match type Union[int, str] to List[t] in argument 'a': Cannot match List[t] to Union[int, str].
#
#   aten::add.str(str a, str b) -> str:
#   Expected a value of type 'str' for argument 'a' but instead found type 'Union[int, str]'.
#
#   and 13 other overloads, which match no better.
#
# The original call is:
#   File "union_operand.py", line 7
# def main(x: Union[int, str]):
#     return x + 1
#            ~~~~~ <--- HERE
# Hint: found Union[int, str] and int
