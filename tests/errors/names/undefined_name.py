"""An undefined name."""


def main(x: int):
    return y + x

# error: CompilationError
# undefined value y:
#   File "undefined_name.py", line 5
# def main(x: int):
#     return y + x
#            ~ <--- HERE
