"""An import inside a function."""


def main(x: int):
    import math

    return math.sqrt(x)

# error: UnsupportedNodeError
# import statements aren't supported; import at the top of the file:
#   File "import_inside.py", line 5
# def main(x: int):
#     import math
#     ~~~~~~ <--- HERE
#
#     return math.sqrt(x)
