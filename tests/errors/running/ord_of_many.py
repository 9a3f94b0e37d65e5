"""`ord` of a string with several characters."""


def main():
    return ord("ab")

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "ord_of_many.py", line 5, in main
# def main():
#     return ord("ab")
#            ~~~ <--- HERE
# RuntimeError: String for ord() must be 1 character, found 2
