"""An object without `__enter__` as the context manager of a `with` statement."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x


def main():
    with Point(1) as p:
        return 1
    return 2

# error: CompilationError
# Object returned by with item expression does not define __enter__ and __exit__ methods:
#   File "with_without_enter.py", line 13
# def main():
#     with Point(1) as p:
#          ~~~~~~~ <--- HERE
#         return 1
#     return 2
