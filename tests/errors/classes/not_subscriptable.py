"""A subscript of an object whose class does not define `__getitem__`."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x


def main():
    return Point(1)[0]

# error: CompilationError
# '__torch__.errors.not_subscriptable.Point' object has no attribute or method '__getitem__'. Did you forget to initialize an attribute in __init__()?:
#   File "not_subscriptable.py", line 13
# def main():
#     return Point(1)[0]
#            ~~~~~~~~~~~ <--- HERE
