"""A number is no type."""


def main(x: int):
    return isinstance(x, 3)

# error: CompilationError
# Expression of type const cannot be used in a type expression:
#   File "isinstance_of_number.py", line 5
# def main(x: int):
#     return isinstance(x, 3)
#                          ~ <--- HERE
