"""A call of an undefined function."""


def main(x: int):
    return helper(x)

# error: CompilationError
# undefined value helper:
#   File "undefined_function.py", line 5
# def main(x: int):
#     return helper(x)
#            ~~~~~~ <--- HERE
