"""A call whose arguments match no overload declaration."""

import ts


@ts.jit._overload
def helper(a: int) -> int: ...


@ts.jit._overload
def helper(a: float) -> float: ...


def helper(a):
    return a


def main(x: str):
    return helper(x)

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   helper(int a) -> int:
#   Expected a value of type 'int' for argument 'a' but instead found type 'str'.
#
#   helper(float a) -> float:
#   Expected a value of type 'float' for argument 'a' but instead found type 'str'.
#
# The original call is:
#   File "overload_match.py", line 19
# def main(x: str):
#     return helper(x)
#            ~~~~~~ <--- HERE
