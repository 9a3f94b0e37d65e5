"""An attribute of an enum member other than `name` and `value`."""

from enum import Enum


class Color(Enum):
    RED = 1
    GREEN = 2


def main(x: Color):
    return x.size

# error: CompilationError
# 'Enum<__torch__.errors.attribute.Color>' object has no attribute or method 'size'.:
#   File "attribute.py", line 12
# def main(x: Color):
#     return x.size
#            ~~~~~~ <--- HERE
# Hint: write `len(x)`
