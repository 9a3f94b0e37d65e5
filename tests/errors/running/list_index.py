"""An index out of the range of a list."""


def main():
    x = [1, 2]
    return x[3]

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "list_index.py", line 6, in main
# def main():
#     x = [1, 2]
#     return x[3]
#            ~~~~ <--- HERE
# RuntimeError: list index out of range
