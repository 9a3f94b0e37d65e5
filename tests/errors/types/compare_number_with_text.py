"""A comparison of what cannot be compared."""


def main(x: int):
    return x < "a"

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::lt.Tensor(Tensor self, Tensor other) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'int'.
#
#   aten::lt.Scalar(Tensor self, Scalar other) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'int'.
#
#   aten::lt.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'int'.
#
#   aten::lt.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'int'.
#
#   aten::lt.int(int a, int b) -> bool:
#   Expected a value of type 'int' for argument 'b' but instead found type 'str'.
#
#   aten::lt.float(float a, float b) -> bool:
#   Expected a value of type 'float' for argument 'a' but instead found type 'int'.
#
#   aten::lt.int_float(int a, float b) -> bool:
#   Expected a value of type 'float' for argument 'b' but instead found type 'str'.
#
#   aten::lt.float_int(float a, int b) -> bool:
#   Expected a value of type 'float' for argument 'a' but instead found type 'int'.
#
#   aten::lt(Scalar a, Scalar b) -> bool:
#   Expected a value of type 'number' for argument 'b' but instead found type 'str'.
#
#   aten::lt.str(str a, str b) -> bool:
#   Expected a value of type 'str' for argument 'a' but instead found type 'int'.
#
#   lt(float a, Tensor b) -> Tensor:
#   Expected a value of type 'float' for argument 'a' but instead found type 'int'.
#
#   lt(int a, Tensor b) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'b' but instead found type 'str'.
#
# The original call is:
#   File "compare_number_with_text.py", line 5
# def main(x: int):
#     return x < "a"
#            ~~~~~~ <--- HERE
# Hint: found int and str; `str(x)` makes a text of a number
