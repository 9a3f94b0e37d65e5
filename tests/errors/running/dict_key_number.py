"""A number that is not a key of the dict."""


def main():
    x = {1: 1}
    return x[2]

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "dict_key_number.py", line 6, in main
# def main():
#     x = {1: 1}
#     return x[2]
#            ~~~~ <--- HERE
# RuntimeError: KeyError: 2
