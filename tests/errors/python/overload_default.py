"""An overload declaration with a default that differs from the implementation's."""

import ts


@ts.jit._overload
def helper(a: int, b: int = 2) -> int: ...


def helper(a, b=1):
    return a + b


def main(x: int):
    return helper(x, 3)

# error: FrontendError
# Default parameters on overloads do not affect the runtime so they must equal to the default parameter on the implementation function. Found on parameter b:
#   File "overload_default.py", line 7
# @ts.jit._overload
# def helper(a: int, b: int = 2) -> int: ...
# ~~~ <--- HERE
# 'helper' is being compiled since it was called from 'main'
#   File "overload_default.py", line 15
# def main(x: int):
#     return helper(x, 3)
#            ~~~~~~~~~~~ <--- HERE
