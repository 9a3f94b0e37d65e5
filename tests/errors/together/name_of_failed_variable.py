"""A variable whose assignment fails is not the function that has its name."""


def step(x: int) -> int:
    return undefined_here(x)


def main(x: int) -> int:
    step = x + "a"
    return step

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'int'.
#
#   aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'int'.
#
#   aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'int'.
#
#   aten::add.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'int'.
#
#   aten::add.t(t[] a, t[] b) -> t[]:
#   Could not match type int to List[t] in argument 'a': Cannot match List[t] to int.
#
#   aten::add.str(str a, str b) -> str:
#   Expected a value of type 'str' for argument 'a' but instead found type 'int'.
#
#   aten::add.int(int a, int b) -> int:
#   Expected a value of type 'int' for argument 'b' but instead found type 'str'.
#
#   aten::add.complex(complex a, complex b) -> complex:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'int'.
#
#   aten::add.float(float a, float b) -> float:
#   Expected a value of type 'float' for argument 'a' but instead found type 'int'.
#
#   aten::add.int_complex(int a, complex b) -> complex:
#   Expected a value of type 'complex' for argument 'b' but instead found type 'str'.
#
#   aten::add.complex_int(complex a, int b) -> complex:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'int'.
#
#   aten::add.float_complex(float a, complex b) -> complex:
#   Expected a value of type 'float' for argument 'a' but instead found type 'int'.
#
#   aten::add.complex_float(complex a, float b) -> complex:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'int'.
#
#   aten::add.int_float(int a, float b) -> float:
#   Expected a value of type 'float' for argument 'b' but instead found type 'str'.
#
#   aten::add.float_int(float a, int b) -> float:
#   Expected a value of type 'float' for argument 'a' but instead found type 'int'.
#
#   aten::add(Scalar a, Scalar b) -> Scalar:
#   Expected a value of type 'number' for argument 'b' but instead found type 'str'.
#
#   add(float a, Tensor b) -> Tensor:
#   Expected a value of type 'float' for argument 'a' but instead found type 'int'.
#
#   add(int a, Tensor b) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'b' but instead found type 'str'.
#
#   add(complex a, Tensor b) -> Tensor:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'int'.
#
# The original call is:
#   File "name_of_failed_variable.py", line 9
# def main(x: int) -> int:
#     step = x + "a"
#            ~~~~~~ <--- HERE
#     return step
# Hint: found int and str; `str(x)` makes a text of a number
