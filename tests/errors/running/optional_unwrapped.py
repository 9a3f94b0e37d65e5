"""None is unwrapped as a value."""

from typing import Optional

import ts


def find(x: int) -> Optional[int]:
    return None


def main():
    return ts.jit._unwrap_optional(find(1))

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "optional_unwrapped.py", line 13, in main
# def main():
#     return ts.jit._unwrap_optional(find(1))
#            ~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE
# RuntimeError: Unwrapping null optional
