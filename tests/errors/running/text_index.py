"""An index out of the range of a string."""


def main():
    x = "abc"
    return x[5]

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "text_index.py", line 6, in main
# def main():
#     x = "abc"
#     return x[5]
#            ~~~~ <--- HERE
# RuntimeError: string index out of range
