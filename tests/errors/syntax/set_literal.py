"""A set literal."""


def main(x: int):
    return {x, 1}

# error: UnsupportedNodeError
# Set aren't supported; use the keys of a dict:
#   File "set_literal.py", line 5
# def main(x: int):
#     return {x, 1}
#            ~ <--- HERE
