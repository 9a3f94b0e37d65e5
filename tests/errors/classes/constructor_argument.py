"""The constructor is called with an argument of the wrong type."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x


def main(n: str):
    p = Point(n)
    return p.x

# error: SchemaMatchError
# __init__(__torch__.errors.constructor_argument.Point self, int x) -> NoneType:
# Expected a value of type 'int' for argument 'x' but instead found type 'str'.
# :
#   File "constructor_argument.py", line 13
# def main(n: str):
#     p = Point(n)
#         ~~~~~ <--- HERE
#     return p.x
