"""An overload declaration whose parameter names differ from the implementation's."""

import ts


@ts.jit._overload
def helper(b: int) -> int: ...


def helper(a):
    return a


def main(x: int):
    return helper(x)

# error: FrontendError
# Overload parameters must have the same names. Found b and a on argument 0:
#   File "overload_names.py", line 7
# @ts.jit._overload
# def helper(b: int) -> int: ...
# ~~~ <--- HERE
# 'helper' is being compiled since it was called from 'main'
#   File "overload_names.py", line 15
# def main(x: int):
#     return helper(x)
#            ~~~~~~~~ <--- HERE
