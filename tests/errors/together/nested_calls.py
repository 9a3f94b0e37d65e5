"""Calls in the arguments of a failing call are compiled, too; an error of two callers is reported once."""


def inner(x: int) -> int:
    return x + missing


def outer(x: int) -> str:
    return inner(x)


def main(x: int):
    return outer(inner(inner(x)))

# error: CompilationError
# undefined value missing:
#   File "nested_calls.py", line 5
# def inner(x: int) -> int:
#     return x + missing
#                ~~~~~~~ <--- HERE
# 'inner' is being compiled since it was called from 'outer'
#   File "nested_calls.py", line 9
# def outer(x: int) -> str:
#     return inner(x)
#            ~~~~~~~ <--- HERE
# 'outer' is being compiled since it was called from 'main'
#   File "nested_calls.py", line 13
# def main(x: int):
#     return outer(inner(inner(x)))
#            ~~~~~~~~~~~~~~~~~~~ <--- HERE
