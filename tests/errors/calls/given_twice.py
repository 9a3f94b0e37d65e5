"""An argument is passed both by position and by keyword."""


def helper(a: int) -> int:
    return a


def main(x: int):
    return helper(x, a=2)

# error: SchemaMatchError
# helper(int a) -> int:
# Keyword argument a specified twice.
# :
#   File "given_twice.py", line 9
# def main(x: int):
#     return helper(x, a=2)
#            ~~~~~~ <--- HERE
