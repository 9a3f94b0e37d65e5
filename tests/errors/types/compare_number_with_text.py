"""A comparison of a number with a string."""


def main(x: int):
    return x < "a"

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::lt.int(int a, int b) -> bool:
#   Expected a value of type 'int' for argument 'b' but instead found type 'str'.
#
#   aten::lt.int_float(int a, float b) -> bool:
#   Expected a value of type 'float' for argument 'b' but instead found type 'str'.
#
#   aten::lt(Scalar a, Scalar b) -> bool:
#   Expected a value of type 'number' for argument 'b' but instead found type 'str'.
#
#   lt(int a, Tensor b) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'b' but instead found type 'str'.
#
#   and 8 other overloads, which match no better.
#
# The original call is:
#   File "compare_number_with_text.py", line 5
# def main(x: int):
#     return x < "a"
#            ~~~~~~ <--- HERE
# Hint: found int and str; `str(x)` converts a number to a string
