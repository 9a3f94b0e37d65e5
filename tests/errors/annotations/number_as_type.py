"""A number as an annotation."""


def main(x: 3):
    return x

# error: CompilationError
# Expression of type const cannot be used in a type expression:
#   File "number_as_type.py", line 4
# def main(x: 3):
#             ~ <--- HERE
#     return x
