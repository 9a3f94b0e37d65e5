"""An unknown member of an enum."""

from enum import Enum


class Color(Enum):
    RED = 1
    GREEN = 2


def main(x: int):
    return Color.BLUE

# error: CompilationError
# Enum<__torch__.errors.unknown_member.Color>' has no attribute 'BLUE':
#   File "unknown_member.py", line 12
# def main(x: int):
#     return Color.BLUE
#            ~~~~~~~~~~ <--- HERE
