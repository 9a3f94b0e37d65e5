"""A product of matrices whose shapes do not match."""

import ts


def main():
    return ts.mm(ts.ones([2, 3]), ts.ones([2, 3]))

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "matrix_shapes.py", line 7, in main
# def main():
#     return ts.mm(ts.ones([2, 3]), ts.ones([2, 3]))
#            ~~~~~ <--- HERE
# RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)
