"""A variable is used after `del`."""


def main(x: int):
    y = x
    del y
    return y

# error: CompilationError
# undefined value y:
#   File "deleted.py", line 7
#     y = x
#     del y
#     return y
#            ~ <--- HERE
