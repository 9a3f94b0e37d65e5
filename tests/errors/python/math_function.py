"""An unsupported function of `math`."""

import math


def main(x: float):
    return math.hypot(x, x)

# error: CompilationError
# Python builtin <built-in function hypot> is currently not supported in Torchscript; call it in a function that is marked with @ts.jit.ignore:
#   File "math_function.py", line 7
# def main(x: float):
#     return math.hypot(x, x)
#            ~~~~~~~~~~ <--- HERE
