"""A name that a Python module does not have."""

import math


def main(x: float):
    return math.no_such_name(x)

# error: CompilationError
# object has no attribute no_such_name: module 'math' does not have it:
#   File "module_attribute.py", line 7
# def main(x: float):
#     return math.no_such_name(x)
#            ~~~~~~~~~~~~~~~~~ <--- HERE
