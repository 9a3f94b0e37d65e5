"""A list is unpacked whose length differs from the number of names."""


def main():
    a, b = [1, 2, 3]
    return a

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "unpack_list.py", line 5, in main
# def main():
#     a, b = [1, 2, 3]
#     ~~~~~~~~~~~~~~~ <--- HERE
#     return a
# RuntimeError: Expected 2 elements in a list but found 3
