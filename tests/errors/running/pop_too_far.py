"""`pop` with an index after the end of the list."""

from typing import List


def main(xs: List[int]):
    return xs.pop(5)

# call: main([1])

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "pop_too_far.py", line 7, in main
# def main(xs: List[int]):
#     return xs.pop(5)
#            ~~~~~~ <--- HERE
# RuntimeError: list index out of range
