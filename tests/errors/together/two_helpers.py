"""A function calls two functions that do not compile: both errors are reported."""


def first(x: int) -> int:
    return x + missing


def second(x: int):
    return x.upper()


def main(x: int):
    a = first(x)
    return a + second(a)

# error: CompilationError
# undefined value missing:
#   File "two_helpers.py", line 5
# def first(x: int) -> int:
#     return x + missing
#                ~~~~~~~ <--- HERE
# 'first' is being compiled since it was called from 'main'
#   File "two_helpers.py", line 13
# def main(x: int):
#     a = first(x)
#         ~~~~~~~ <--- HERE
#     return a + second(a)
#
# 1 more error:
# 'int' object has no attribute or method 'upper'.:
#   File "two_helpers.py", line 9
# def second(x: int):
#     return x.upper()
#            ~~~~~~~ <--- HERE
# 'second' is being compiled since it was called from 'main'
#   File "two_helpers.py", line 14
# def main(x: int):
#     a = first(x)
#     return a + second(a)
#                ~~~~~~~~ <--- HERE
