"""A `try` statement."""


def main(x: int):
    try:
        x = x + 1
    except ValueError:
        x = 0
    return x

# error: UnsupportedNodeError
# try blocks aren't supported; test with `if` before the operation that may fail:
#   File "try_block.py", line 5
# def main(x: int):
#     try:
#     ~~~ <--- HERE
#         x = x + 1
#     except ValueError:
