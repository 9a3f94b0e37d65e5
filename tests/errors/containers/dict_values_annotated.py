"""The value type of a dict literal differs from the annotation."""

from typing import Dict


def main():
    rates: Dict[str, float] = {"a": 1, "b": 2}
    return rates

# error: CompilationError
# Type annotation was inferred to be `Dict[str, float]`, but the type of values given by the dict literal is int:
#   File "dict_values_annotated.py", line 7
# def main():
#     rates: Dict[str, float] = {"a": 1, "b": 2}
#                               ~~~~~~~~~~~~~~~ <--- HERE
#     return rates
# Hint: convert the value, or write the type `int`
