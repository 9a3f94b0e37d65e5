"""`view` with a shape of another number of elements."""

import ts


def main():
    return ts.ones([4]).view([3])

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "view_size.py", line 7, in main
# def main():
#     return ts.ones([4]).view([3])
#            ~~~~~~~~~~~~~~~ <--- HERE
# RuntimeError: shape '[3]' is invalid for input of size 4
