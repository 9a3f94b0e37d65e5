"""A function that nothing defines."""


def main(x: int):
    return helper(x)

# error: CompilationError
# undefined value helper:
#   File "undefined_function.py", line 5
# def main(x: int):
#     return helper(x)
#            ~~~~~~ <--- HERE
