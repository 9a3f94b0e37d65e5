"""A method that the class does not have."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x


def main(n: int):
    p = Point(n)
    return p.move(1)

# error: CompilationError
# '__torch__.errors.unknown_method.Point' object has no attribute or method 'move'. Did you forget to initialize an attribute in __init__()?:
#   File "unknown_method.py", line 14
# def main(n: int):
#     p = Point(n)
#     return p.move(1)
#            ~~~~~~ <--- HERE
