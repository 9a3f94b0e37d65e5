"""The call that is an argument of a failing one is looked at as well; a helper with two callers counts once."""


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
