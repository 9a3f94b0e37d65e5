"""`pop` of an empty list."""


def main():
    x = [1]
    x.pop()
    return x.pop()

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "pop_empty.py", line 7, in main
#     x = [1]
#     x.pop()
#     return x.pop()
#            ~~~~~ <--- HERE
# RuntimeError: pop from empty list
