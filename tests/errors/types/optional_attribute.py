"""A method of an Optional that is not refined."""

from typing import Optional


def main(x: Optional[str]):
    return x.upper()

# error: CompilationError
# 'Optional[str]' object has no attribute or method 'upper'.:
#   File "optional_attribute.py", line 7
# def main(x: Optional[str]):
#     return x.upper()
#            ~~~~~~~ <--- HERE
# Hint: the value may be None; test it with `is not None` first, which refines its type
