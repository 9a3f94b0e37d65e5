"""A binary operator whose magic method the class does not define."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x


def main():
    return Point(1) + Point(2)

# error: CompilationError
# '__torch__.errors.no_addition.Point' object has no attribute or method '__add__'. Did you forget to initialize an attribute in __init__()?:
#   File "no_addition.py", line 13
# def main():
#     return Point(1) + Point(2)
#            ~~~~~~~~~~~~~~~~~~ <--- HERE
