"""An ignored function is called with an argument of the wrong type."""

import ts


@ts.jit.ignore
def helper(a: int) -> int:
    return a


def main(x: str):
    return helper(x)

# error: SchemaMatchError
# helper(int a) -> int 0:
# Expected a value of type 'int' for argument 'a' but instead found type 'str'.
# :
#   File "ignored_type.py", line 12
# def main(x: str):
#     return helper(x)
#            ~~~~~~ <--- HERE
