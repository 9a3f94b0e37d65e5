"""A builtin function as a value."""


def main(x: int):
    return print

# error: CompilationError
# print cannot be used as a value:
#   File "builtin_as_value.py", line 5
# def main(x: int):
#     return print
#            ~~~~~ <--- HERE
