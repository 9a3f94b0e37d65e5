"""A keyword-only argument is passed by position."""


def helper(a: int, *, b: int) -> int:
    return a + b


def main(x: int):
    return helper(x, 2)

# error: SchemaMatchError
# helper(int a, *, int b) -> int:
# Argument b not provided.
# :
#   File "keyword_only.py", line 9
# def main(x: int):
#     return helper(x, 2)
#            ~~~~~~ <--- HERE
