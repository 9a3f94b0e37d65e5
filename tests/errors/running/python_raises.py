"""An ignored function raises an exception."""

import ts


@ts.jit.ignore
def helper(a: int) -> int:
    raise ValueError(f"bad {a}")


def main():
    return helper(1)

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "python_raises.py", line 12, in main
# def main():
#     return helper(1)
#            ~~~~~~ <--- HERE
# RuntimeError: ValueError: bad 1
#
# At:
#   python_raises.py(8): helper
