"""A value of another type is assigned to an attribute."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x

    def clear(self):
        self.x = "none"


def main():
    return Point(1).x

# error: CompilationError
# Wrong type for attribute assignment. Expected int but got str:
#   File "attribute_type.py", line 12
#     def clear(self):
#         self.x = "none"
#         ~~~~~~~~~~~~~~ <--- HERE
