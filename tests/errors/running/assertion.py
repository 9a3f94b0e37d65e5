"""The condition of an `assert` is false."""


def main():
    x = 3
    assert x > 4, "too small"
    return x

# error: ScriptRuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "assertion.py", line 6, in main
# def main():
#     x = 3
#     assert x > 4, "too small"
#     ~~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE
#     return x
# RuntimeError: AssertionError: too small
