"""`int` of a string that is not a number."""


def main():
    return int("abc")

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "int_of_text.py", line 5, in main
# def main():
#     return int("abc")
#            ~~~ <--- HERE
# RuntimeError: invalid literal for int() with base 10: 'abc'
