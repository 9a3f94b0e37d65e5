"""An ignored function is called without its second argument."""

import ts


@ts.jit.ignore
def helper(a: int, b: int) -> int:
    return a + b


def main(x: int):
    return helper(x)

# error: SchemaMatchError
# helper(int a, int b) -> int 0:
# Argument b not provided.
# :
#   File "ignored_missing.py", line 12
# def main(x: int):
#     return helper(x)
#            ~~~~~~ <--- HERE
