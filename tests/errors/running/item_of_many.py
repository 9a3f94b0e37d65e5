"""`item()` of a tensor with several elements."""

import ts


def main():
    return ts.ones([2]).item()

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "item_of_many.py", line 7, in main
# def main():
#     return ts.ones([2]).item()
#            ~~~~~~~~~~~~~~~ <--- HERE
# RuntimeError: a Tensor with 2 elements cannot be converted to Scalar
