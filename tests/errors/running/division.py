"""A division by zero."""


def main():
    x = 0
    return 1 // x

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "division.py", line 6, in main
# def main():
#     x = 0
#     return 1 // x
#            ~~~~~~ <--- HERE
# RuntimeError: division by 0
