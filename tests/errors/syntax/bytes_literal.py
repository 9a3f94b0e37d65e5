"""A bytes literal."""


def main(x: int):
    return b"abc"

# error: FrontendError
# Unknown Constant expression type:
#   File "bytes_literal.py", line 5
# def main(x: int):
#     return b"abc"
#            ~~~~~~ <--- HERE
