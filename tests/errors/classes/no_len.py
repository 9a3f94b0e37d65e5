"""A builtin whose magic method the class does not define."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x


def main():
    return len(Point(1))

# error: CompilationError
# '__torch__.errors.no_len.Point' object has no attribute or method '__len__'. Did you forget to initialize an attribute in __init__()?:
#   File "no_len.py", line 13
# def main():
#     return len(Point(1))
#            ~~~ <--- HERE
