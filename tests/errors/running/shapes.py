"""Tensors whose shapes do not broadcast."""

import ts


def main():
    return ts.ones([2, 3]) + ts.ones([2, 4])

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "shapes.py", line 7, in main
# def main():
#     return ts.ones([2, 3]) + ts.ones([2, 4])
#            ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE
# RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1
