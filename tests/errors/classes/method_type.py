"""A method is called with an argument of the wrong type."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x

    def plus(self, n: int) -> int:
        return self.x + n


def main():
    return Point(1).plus("a")

# error: SchemaMatchError
# plus(__torch__.errors.method_type.Point self, int n) -> int:
# Expected a value of type 'int' for argument 'n' but instead found type 'str'.
# :
#   File "method_type.py", line 16
# def main():
#     return Point(1).plus("a")
#            ~~~~~~~~~~~~ <--- HERE
