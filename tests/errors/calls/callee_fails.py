"""A called function does not compile."""


def inner(a: int) -> int:
    return missing(a)


def helper(a: int) -> int:
    return inner(a)


def main(x: int):
    return helper(x)

# error: CompilationError
# undefined value missing:
#   File "callee_fails.py", line 5
# def inner(a: int) -> int:
#     return missing(a)
#            ~~~~~~~ <--- HERE
# 'inner' is being compiled since it was called from 'helper'
#   File "callee_fails.py", line 9
# def helper(a: int) -> int:
#     return inner(a)
#            ~~~~~~~ <--- HERE
# 'helper' is being compiled since it was called from 'main'
#   File "callee_fails.py", line 13
# def main(x: int):
#     return helper(x)
#            ~~~~~~~~ <--- HERE
