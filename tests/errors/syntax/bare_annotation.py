"""A variable that is declared but not assigned."""


def main(x: int):
    y: int
    y = x
    return y

# error: UnsupportedNodeError
# annotated assignments without assigned value aren't supported:
#   File "bare_annotation.py", line 5
# def main(x: int):
#     y: int
#     ~ <--- HERE
#     y = x
#     return y
