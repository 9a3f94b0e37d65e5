"""`float` of a string that is not a number."""


def main():
    return float("abc")

# error: RuntimeError
# The following operation failed in the TorchScript interpreter.
# Traceback of TorchScript (most recent call last):
#   File "float_of_text.py", line 5, in main
# def main():
#     return float("abc")
#            ~~~~~ <--- HERE
# RuntimeError: could not convert string to float: 'abc'
