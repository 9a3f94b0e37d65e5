"""Uses of a failed call's result report no further errors; errors of other functions are reported."""


def first(x: int):
    return missing


def second(x: int):
    return x.second


def main(x: int):
    a = first(x)
    b = a + 1
    if x > 2:
        b = second(b)
    return b

# error: CompilationError
# undefined value missing:
#   File "consequences.py", line 5
# def first(x: int):
#     return missing
#            ~~~~~~~ <--- HERE
# 'first' is being compiled since it was called from 'main'
#   File "consequences.py", line 13
# def main(x: int):
#     a = first(x)
#         ~~~~~~~ <--- HERE
#     b = a + 1
#     if x > 2:
#
# 1 more error:
# 'int' object has no attribute or method 'second'.:
#   File "consequences.py", line 9
# def second(x: int):
#     return x.second
#            ~~~~~~~~ <--- HERE
# 'second' is being compiled since it was called from 'main'
#   File "consequences.py", line 16
#     b = a + 1
#     if x > 2:
#         b = second(b)
#             ~~~~~~~~ <--- HERE
#     return b
