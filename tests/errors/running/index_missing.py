"""`list.index` of an element that the list does not have."""


def main():
    return [1].index(2)

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "index_missing.py", line 5, in main
# def main():
#     return [1].index(2)
#            ~~~~~~~~ <--- HERE
# RuntimeError: '2' is not in list
