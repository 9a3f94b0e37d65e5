"""`is not None` refines variables, not subscripts: another read of the item is Optional."""

from typing import Dict, Optional


def main(limits: Dict[str, Optional[int]]):
    if limits["low"] is not None:
        return limits["low"] + 1
    return 0

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
#   File "optional_item.py", line 8
# def main(limits: Dict[str, Optional[int]]):
#     if limits["low"] is not None:
#         return limits["low"] + 1
#                ~~~~~~~~~~~~~~~~~ <--- HERE
#     return 0
# Hint: the item may be None, and a test does not refine the type of an item: assign it to a variable, and test that
