"""An exception class as a value."""


def main(x: int):
    e = ValueError("a")
    return e

# error: CompilationError
# exception message cannot be used as a value:
#   File "exception_as_value.py", line 6
# def main(x: int):
#     e = ValueError("a")
#     return e
#            ~ <--- HERE
