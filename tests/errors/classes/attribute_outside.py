"""An attribute that is first assigned outside of `__init__`."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x

    def name(self, text: str):
        self.text = text


def main():
    return Point(1).x

# error: CompilationError
# Tried to set nonexistent attribute: text. Did you forget to initialize it in __init__()?:
#   File "attribute_outside.py", line 12
#     def name(self, text: str):
#         self.text = text
#         ~~~~~~~~~~~~~~~~ <--- HERE
