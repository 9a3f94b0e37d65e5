"""An enum with values of two types."""

from enum import Enum


class Color(Enum):
    RED = 1
    GREEN = "green"


def main(x: Color):
    return x.value


# torch: Could not unify type list since element 1 of type int did not match the types before it (str)

# error: CompilationError
# Could not unify type list since element 1 of type str did not match the types before it (int); use values of one type for all members:
#   File "mixed_values.py", line 11
# def main(x: Color):
#             ~~~~~ <--- HERE
#     return x.value
