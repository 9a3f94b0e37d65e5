"""An import of one name inside a function."""


def main(x: int):
    from math import sqrt

    return sqrt(x)

# error: UnsupportedNodeError
# import statements aren't supported; import at the top of the file:
#   File "import_from_inside.py", line 5
# def main(x: int):
#     from math import sqrt
#     ~~~~ <--- HERE
#
#     return sqrt(x)
