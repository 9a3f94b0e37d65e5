"""A `global` statement."""


def main(x: int):
    global counter
    counter = x

# error: UnsupportedNodeError
# global variables aren't supported; pass the value in and return it:
#   File "global_statement.py", line 5
# def main(x: int):
#     global counter
#     ~~~~~~ <--- HERE
#     counter = x
