"""Addition of a number and a string."""


def main(x: int):
    return x + "a"

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::add.int(int a, int b) -> int:
#   Expected a value of type 'int' for argument 'b' but instead found type 'str'.
#
#   aten::add.int_complex(int a, complex b) -> complex:
#   Expected a value of type 'complex' for argument 'b' but instead found type 'str'.
#
#   aten::add.int_float(int a, float b) -> float:
#   Expected a value of type 'float' for argument 'b' but instead found type 'str'.
#
#   aten::add(Scalar a, Scalar b) -> Scalar:
#   Expected a value of type 'number' for argument 'b' but instead found type 'str'.
#
#   add(int a, Tensor b) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'b' but instead found type 'str'.
#
#   and 14 other overloads, which match no better.
#
# The original call is:
#   File "number_plus_text.py", line 5
# def main(x: int):
#     return x + "a"
#            ~~~~~~ <--- HERE
# Hint: found int and str; `str(x)` converts a number to a string
