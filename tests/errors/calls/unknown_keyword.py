"""A keyword that the called function does not have."""


def helper(a: int) -> int:
    return a


def main(x: int):
    return helper(a=x, b=2)

# error: SchemaMatchError
# helper(int a) -> int:
# Keyword argument b unknown.
# :
#   File "unknown_keyword.py", line 9
# def main(x: int):
#     return helper(a=x, b=2)
#            ~~~~~~ <--- HERE
