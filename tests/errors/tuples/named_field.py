"""A field that the named tuple does not have."""

from typing import NamedTuple


class Pair(NamedTuple):
    first: int
    second: str


def main(x: Pair):
    return x.third

# error: CompilationError
# '__torch__.errors.named_field.Pair' object has no attribute or method 'third'.:
#   File "named_field.py", line 12
# def main(x: Pair):
#     return x.third
#            ~~~~~~~ <--- HERE
