"""A Python module as a value."""

import math


def main(x: int):
    return math

# error: CompilationError
# python value of type 'module' cannot be used as a value. Perhaps it is a closed over global variable? If so, please consider passing it in as an argument or use a local variable instead.:
#   File "module_as_value.py", line 7
# def main(x: int):
#     return math
#            ~~~~ <--- HERE
