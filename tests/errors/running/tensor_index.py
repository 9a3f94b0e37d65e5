"""An index out of the range of a tensor."""

import ts


def main():
    return ts.ones([2])[3]

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "tensor_index.py", line 7, in main
# def main():
#     return ts.ones([2])[3]
#            ~~~~~~~~~~~~~~~ <--- HERE
# RuntimeError: select(): index 3 out of range for tensor of size [2] at dimension 0
