"""`isinstance` with a number in place of the type."""


def main(x: int):
    return isinstance(x, 3)

# error: CompilationError
# Expression of type const cannot be used in a type expression:
#   File "isinstance_of_number.py", line 5
# def main(x: int):
#     return isinstance(x, 3)
#                          ~ <--- HERE
