"""An attribute that `__init__` assigns in one branch only."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        if x > 0:
            self.x = x


def main():
    return 1

# error: CompilationError
# First assignment cannot be in a control-flow block. Initialize the field at the top level first:
#   File "attribute_conditional.py", line 10
#     def __init__(self, x: int):
#         if x > 0:
#             self.x = x
#             ~~~~~~~~~~ <--- HERE
