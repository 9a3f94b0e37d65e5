"""One argument too many."""


def helper(a: int) -> int:
    return a


def main(x: int):
    return helper(x, 2)

# error: SchemaMatchError
# helper(int a) -> int:
# Expected at most 1 arguments but found 2 positional arguments.
# :
#   File "too_many.py", line 9
# def main(x: int):
#     return helper(x, 2)
#            ~~~~~~ <--- HERE
