"""An argument of the wrong type."""


def helper(a: int) -> int:
    return a


def main(x: str):
    return helper(x)

# error: SchemaMatchError
# helper(int a) -> int:
# Expected a value of type 'int' for argument 'a' but instead found type 'str'.
# :
#   File "wrong_type.py", line 9
# def main(x: str):
#     return helper(x)
#            ~~~~~~ <--- HERE
