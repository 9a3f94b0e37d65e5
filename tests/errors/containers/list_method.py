"""An unknown method of a list."""

from typing import List


def main(x: List[int]):
    x.push(3)
    return x

# error: CompilationError
# 'List[int]' object has no attribute or method 'push'.:
#   File "list_method.py", line 7
# def main(x: List[int]):
#     x.push(3)
#     ~~~~~~ <--- HERE
#     return x
# Hint: write `append`
