"""`remove` of an element that the list does not have."""


def main():
    x = [1]
    x.remove(2)
    return x

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "remove_missing.py", line 6, in main
# def main():
#     x = [1]
#     x.remove(2)
#     ~~~~~~~~ <--- HERE
#     return x
# RuntimeError: list.remove(x): x not in list
