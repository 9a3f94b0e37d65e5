"""A function marked as unused is called."""

import ts


@ts.jit.unused
def helper(a: int) -> int:
    return a


def main():
    return helper(1)

# error: ScriptRuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "unused_called.py", line 12, in main
# def main():
#     return helper(1)
#            ~~~~~~ <--- HERE
# RuntimeError: This Python function is annotated to be ignored and cannot be run
