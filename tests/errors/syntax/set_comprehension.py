"""A set comprehension."""

from typing import List


def main(x: List[int]):
    return {i for i in x}

# error: UnsupportedNodeError
# SetComp aren't supported; use the keys of a dict:
#   File "set_comprehension.py", line 7
# def main(x: List[int]):
#     return {i for i in x}
#            ~ <--- HERE
