"""An enum member is compared with a number."""

from enum import Enum


class Color(Enum):
    RED = 1
    GREEN = 2


def main(x: Color):
    return x < 1

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::lt.Tensor(Tensor self, Tensor other) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'Enum<__torch__.errors.compared_with_number.Color>'.
#
#   aten::lt.Scalar(Tensor self, Scalar other) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'Enum<__torch__.errors.compared_with_number.Color>'.
#
#   aten::lt.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'Enum<__torch__.errors.compared_with_number.Color>'.
#
#   aten::lt.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'Enum<__torch__.errors.compared_with_number.Color>'.
#
#   aten::lt.int(int a, int b) -> bool:
#   Expected a value of type 'int' for argument 'a' but instead found type 'Enum<__torch__.errors.compared_with_number.Color>'.
#
#   aten::lt.float(float a, float b) -> bool:
#   Expected a value of type 'float' for argument 'a' but instead found type 'Enum<__torch__.errors.compared_with_number.Color>'.
#
#   and 6 other overloads, which match no better.
#
# The original call is:
#   File "compared_with_number.py", line 12
# def main(x: Color):
#     return x < 1
#            ~~~~~ <--- HERE
# Hint: found __torch__.errors.compared_with_number.Color and int
