"""An ignored function returns a value of another type than annotated."""

import ts


@ts.jit.ignore
def helper(a: int) -> int:
    return "text"


def main():
    return helper(1)

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "python_result.py", line 12, in main
# def main():
#     return helper(1)
#            ~~~~~~ <--- HERE
# RuntimeError:  expected value of type int for return value but instead got value of type str.
# Value: 'text'
# Cast error details: Unable to cast Python instance of type <class 'str'> to int
