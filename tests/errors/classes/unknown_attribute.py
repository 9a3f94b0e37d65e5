"""An attribute that the object does not have."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x


def main(n: int):
    p = Point(n)
    return p.y

# error: CompilationError
# '__torch__.errors.unknown_attribute.Point' object has no attribute or method 'y'. Did you forget to initialize an attribute in __init__()?:
#   File "unknown_attribute.py", line 14
# def main(n: int):
#     p = Point(n)
#     return p.y
#            ~~~ <--- HERE
