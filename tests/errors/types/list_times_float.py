"""A list times a float."""

from typing import List


def main(xs: List[int]):
    return xs * 2.0

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::mul.Tensor(Tensor self, Tensor other) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'List[int]'.
#
#   aten::mul.Scalar(Tensor self, Scalar other) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'List[int]'.
#
#   aten::mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'List[int]'.
#
#   aten::mul.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'List[int]'.
#
#   aten::mul.left_t(t[] l, int n) -> t[]:
#   Expected a value of type 'int' for argument 'n' but instead found type 'float'.
#
#   aten::mul.right_(int n, t[] l) -> t[]:
#   Expected a value of type 'int' for argument 'n' but instead found type 'List[int]'.
#
#   aten::mul.int(int a, int b) -> int:
#   Expected a value of type 'int' for argument 'a' but instead found type 'List[int]'.
#
#   aten::mul.complex(complex a, complex b) -> complex:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'List[int]'.
#
#   aten::mul.float(float a, float b) -> float:
#   Expected a value of type 'float' for argument 'a' but instead found type 'List[int]'.
#
#   aten::mul.int_complex(int a, complex b) -> complex:
#   Expected a value of type 'int' for argument 'a' but instead found type 'List[int]'.
#
#   aten::mul.complex_int(complex a, int b) -> complex:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'List[int]'.
#
#   aten::mul.float_complex(float a, complex b) -> complex:
#   Expected a value of type 'float' for argument 'a' but instead found type 'List[int]'.
#
#   aten::mul.complex_float(complex a, float b) -> complex:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'List[int]'.
#
#   aten::mul.int_float(int a, float b) -> float:
#   Expected a value of type 'int' for argument 'a' but instead found type 'List[int]'.
#
#   aten::mul.float_int(float a, int b) -> float:
#   Expected a value of type 'float' for argument 'a' but instead found type 'List[int]'.
#
#   aten::mul(Scalar a, Scalar b) -> Scalar:
#   Expected a value of type 'number' for argument 'a' but instead found type 'List[int]'.
#
#   mul(float a, Tensor b) -> Tensor:
#   Expected a value of type 'float' for argument 'a' but instead found type 'List[int]'.
#
#   mul(int a, Tensor b) -> Tensor:
#   Expected a value of type 'int' for argument 'a' but instead found type 'List[int]'.
#
#   mul(complex a, Tensor b) -> Tensor:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'List[int]'.
#
# The original call is:
#   File "list_times_float.py", line 7
# def main(xs: List[int]):
#     return xs * 2.0
#            ~~~~~~~~ <--- HERE
# Hint: found List[int] and float
