"""A loop over an Optional that is not refined."""

from typing import List, Optional


def main(x: Optional[List[int]]):
    for i in x:
        print(i)

# error: CompilationError
# 'Optional[List[int]]' object is not iterable:
#   File "optional_loop.py", line 7
# def main(x: Optional[List[int]]):
#     for i in x:
#     ~~~~~~~~~~~
#         print(i)
#         ~~~~~~~ <--- HERE
# Hint: the value may be None; test it with `is not None` first, which refines its type
