"""Negation of a string."""


def main(x: str):
    return -x

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::neg(Tensor self) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'str'.
#
#   aten::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'str'.
#
#   aten::neg.int(int a) -> int:
#   Expected a value of type 'int' for argument 'a' but instead found type 'str'.
#
#   aten::neg.float(float a) -> float:
#   Expected a value of type 'float' for argument 'a' but instead found type 'str'.
#
#   aten::neg.complex(complex a) -> complex:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'str'.
#
#   aten::neg.Scalar(Scalar a) -> Scalar:
#   Expected a value of type 'number' for argument 'a' but instead found type 'str'.
#
# The original call is:
#   File "negative_text.py", line 5
# def main(x: str):
#     return -x
#            ~~ <--- HERE
