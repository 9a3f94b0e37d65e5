"""An exception is raised by a function that is called indirectly."""


def inner(x: int) -> int:
    if x > 2:
        raise RuntimeError("too large")
    return x


def helper(x: int) -> int:
    return inner(x + 1)


def main():
    return helper(2)

# error: ScriptRuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "raised_in_callee.py", line 15, in main
# def main():
#     return helper(2)
#            ~~~~~~ <--- HERE
#   File "raised_in_callee.py", line 11, in helper
# def helper(x: int) -> int:
#     return inner(x + 1)
#            ~~~~~ <--- HERE
#   File "raised_in_callee.py", line 6, in inner
# def inner(x: int) -> int:
#     if x > 2:
#         raise RuntimeError("too large")
#         ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE
#     return x
# builtins.RuntimeError: too large
