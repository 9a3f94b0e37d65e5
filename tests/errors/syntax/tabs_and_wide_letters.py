"""The caret stands under its expression behind tabs and behind letters that take two columns."""


def main(x: int) -> str:
	if x > 0:
		return "日本語" + x
	return ""

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'str'.
#
#   aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'str'.
#
#   aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'str'.
#
#   aten::add.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'str'.
#
#   aten::add.t(t[] a, t[] b) -> t[]:
#   Could not match type str to List[t] in argument 'a': Cannot match List[t] to str.
#
#   aten::add.str(str a, str b) -> str:
#   Expected a value of type 'str' for argument 'b' but instead found type 'int'.
#
#   aten::add.int(int a, int b) -> int:
#   Expected a value of type 'int' for argument 'a' but instead found type 'str'.
#
#   aten::add.complex(complex a, complex b) -> complex:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'str'.
#
#   aten::add.float(float a, float b) -> float:
#   Expected a value of type 'float' for argument 'a' but instead found type 'str'.
#
#   aten::add.int_complex(int a, complex b) -> complex:
#   Expected a value of type 'int' for argument 'a' but instead found type 'str'.
#
#   aten::add.complex_int(complex a, int b) -> complex:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'str'.
#
#   aten::add.float_complex(float a, complex b) -> complex:
#   Expected a value of type 'float' for argument 'a' but instead found type 'str'.
#
#   aten::add.complex_float(complex a, float b) -> complex:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'str'.
#
#   aten::add.int_float(int a, float b) -> float:
#   Expected a value of type 'int' for argument 'a' but instead found type 'str'.
#
#   aten::add.float_int(float a, int b) -> float:
#   Expected a value of type 'float' for argument 'a' but instead found type 'str'.
#
#   aten::add(Scalar a, Scalar b) -> Scalar:
#   Expected a value of type 'number' for argument 'a' but instead found type 'str'.
#
#   add(float a, Tensor b) -> Tensor:
#   Expected a value of type 'float' for argument 'a' but instead found type 'str'.
#
#   add(int a, Tensor b) -> Tensor:
#   Expected a value of type 'int' for argument 'a' but instead found type 'str'.
#
#   add(complex a, Tensor b) -> Tensor:
#   Expected a value of type 'complex' for argument 'a' but instead found type 'str'.
#
# The original call is:
#   File "tabs_and_wide_letters.py", line 6
# def main(x: int) -> str:
# 	if x > 0:
# 		return "日本語" + x
# 		       ~~~~~~~~~~~~ <--- HERE
# 	return ""
# Hint: found str and int; `str(x)` makes a text of a number
