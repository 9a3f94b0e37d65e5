"""An overload declaration omits a parameter that has no annotation in the implementation."""

import ts


@ts.jit._overload
def helper(a: int) -> int: ...


def helper(a, b=1):
    return a + b


def main(x: int):
    return helper(x)

# error: FrontendError
# Parameters not specified on the overloaded declaration must have a type annotation in the implementation function. Did not find type for param b:
#   File "overload_untyped.py", line 10
# def helper(a, b=1):
#               ~ <--- HERE
#     return a + b
# 'helper' is being compiled since it was called from 'main'
#   File "overload_untyped.py", line 15
# def main(x: int):
#     return helper(x)
#            ~~~~~~~~ <--- HERE
