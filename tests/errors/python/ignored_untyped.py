"""An ignored function without annotations, whose parameters are tensors, is called with another type."""

import ts


@ts.jit.ignore
def helper(a):
    return a


def main(x: int):
    return helper(x)

# error: SchemaMatchError
# helper(Tensor a) -> Tensor 0:
# Expected a value of type 'Tensor' for argument 'a' but instead found type 'int'.
# :
#   File "ignored_untyped.py", line 12
# def main(x: int):
#     return helper(x)
#            ~~~~~~ <--- HERE
