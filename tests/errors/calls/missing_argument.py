"""A required argument is missing in a call."""


def helper(a: int, b: int) -> int:
    return a + b


def main(x: int):
    return helper(x)

# error: SchemaMatchError
# helper(int a, int b) -> int:
# Argument b not provided.
# :
#   File "missing_argument.py", line 9
# def main(x: int):
#     return helper(x)
#            ~~~~~~ <--- HERE
