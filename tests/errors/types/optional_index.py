"""A subscript of an Optional that is not refined."""

from typing import List, Optional


def main(x: Optional[List[int]]):
    return x[0]

# error: CompilationError
# 'Optional[List[int]]' object is not subscriptable:
#   File "optional_index.py", line 7
# def main(x: Optional[List[int]]):
#     return x[0]
#            ~~~~ <--- HERE
# Hint: the value may be None; test it with `is not None` first, which refines its type
