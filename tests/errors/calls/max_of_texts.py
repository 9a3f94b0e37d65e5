"""`max` of a string and a number."""


def main(x: int):
    return max("a", x)

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   prim::max.int(int a, int b) -> int:
#   Expected a value of type 'int' for argument 'a' but instead found type 'str'.
#
#   prim::max.float(float a, float b) -> float:
#   Expected a value of type 'float' for argument 'a' but instead found type 'str'.
#
#   prim::max.int_float(int a, float b) -> float:
#   Expected a value of type 'int' for argument 'a' but instead found type 'str'.
#
#   prim::max.float_int(float a, int b) -> float:
#   Expected a value of type 'float' for argument 'a' but instead found type 'str'.
#
#   prim::max(Scalar a, Scalar b) -> Scalar:
#   Expected a value of type 'number' for argument 'a' but instead found type 'str'.
#
#   prim::max.int_list(int[] l, int[] r) -> int[]:
#   Expected a value of type 'List[int]' for argument 'l' but instead found type 'str'.
#
#   and 5 other overloads, which match no better.
#
# The original call is:
#   File "max_of_texts.py", line 5
# def main(x: int):
#     return max("a", x)
#            ~~~ <--- HERE
# Hint: found str and int; `str(x)` converts a number to a string
