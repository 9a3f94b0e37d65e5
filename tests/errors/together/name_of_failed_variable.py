"""A variable whose assignment fails does not refer to the global function of the same name."""


def step(x: int) -> int:
    return undefined_here(x)


def main(x: int) -> int:
    step = x + "a"
    return step

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
#   File "name_of_failed_variable.py", line 9
# def main(x: int) -> int:
#     step = x + "a"
#            ~~~~~~ <--- HERE
#     return step
# Hint: found int and str; `str(x)` converts a number to a string
