"""A key that the dict does not have."""


def main():
    x = {"a": 1}
    return x["b"]

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "dict_key.py", line 6, in main
# def main():
#     x = {"a": 1}
#     return x["b"]
#            ~~~~~ <--- HERE
# RuntimeError: KeyError: b
