"""A parameter annotated as `Callable`."""

from typing import Callable


def main(x: Callable[[int], int]):
    return x(1)

# error: CompilationError
# Unknown type constructor Callable:
#   File "callable.py", line 6
# def main(x: Callable[[int], int]):
#             ~~~~~~~~~~~~~~~~~~~~ <--- HERE
#     return x(1)
# Hint: functions cannot be values; call them by name, or pass an object with a method
