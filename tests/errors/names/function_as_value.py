"""A function as a value."""


def helper(x: int) -> int:
    return x


def main(x: int):
    return helper

# error: CompilationError
# function cannot be used as a value:
#   File "function_as_value.py", line 9
# def main(x: int):
#     return helper
#            ~~~~~~ <--- HERE
