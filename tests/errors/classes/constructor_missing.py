"""A required argument of the constructor is missing."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x


def main():
    p = Point()
    return p.x

# error: SchemaMatchError
# __init__(__torch__.errors.constructor_missing.Point self, int x) -> NoneType:
# Argument x not provided.
# :
#   File "constructor_missing.py", line 13
# def main():
#     p = Point()
#         ~~~~~ <--- HERE
#     return p.x
