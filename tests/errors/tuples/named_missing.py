"""A named tuple is constructed without a required field."""

from typing import NamedTuple


class Pair(NamedTuple):
    first: int
    second: str


def main(x: int):
    return Pair(x)

# error: SchemaMatchError
# Pair(int first, str second) -> ():
# Argument second not provided.
# :
#   File "named_missing.py", line 12
# def main(x: int):
#     return Pair(x)
#            ~~~~ <--- HERE
