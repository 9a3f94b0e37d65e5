"""A named tuple is constructed with a value of the wrong type."""

from typing import NamedTuple


class Pair(NamedTuple):
    first: int
    second: str


def main(x: int):
    return Pair(x, x)

# error: SchemaMatchError
# Pair(int first, str second) -> ():
# Expected a value of type 'str' for argument 'second' but instead found type 'int'.
# :
#   File "named_argument.py", line 12
# def main(x: int):
#     return Pair(x, x)
#            ~~~~ <--- HERE
