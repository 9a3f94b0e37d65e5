"""A number is unpacked."""


def main(x: int):
    a, b = x
    return a

# error: CompilationError
# int cannot be used as a tuple:
#   File "unpack_number.py", line 5
# def main(x: int):
#     a, b = x
#            ~ <--- HERE
#     return a
