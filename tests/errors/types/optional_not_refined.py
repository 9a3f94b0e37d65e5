"""An Optional is used as a value without a refinement."""

from typing import Optional


def main(x: Optional[int]):
    return x + 1

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'Optional[int]'.
#
#   aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'Optional[int]'.
#
#   aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'Optional[int]'.
#
#   aten::add.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'Optional[int]'.
#
#   aten::add.t(t[] a, t[] b) -> t[]:
#   Could not match type Optional[int] to List[t] in argument 'a': Cannot match List[t] to Optional[int].
#
#   aten::add.str(str a, str b) -> str:
#   Expected a value of type 'str' for argument 'a' but instead found type 'Optional[int]'.
#
#   and 13 other overloads, which match no better.
#
# The original call is:
#   File "optional_not_refined.py", line 7
# def main(x: Optional[int]):
#     return x + 1
#            ~~~~~ <--- HERE
# Hint: the value may be None; test it with `is not None` first, which refines its type
