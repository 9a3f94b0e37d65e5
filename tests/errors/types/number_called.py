"""A call of a number."""


def main(x: int):
    return x(1)

# error: CompilationError
# cannot call a value of type 'int':
#   File "number_called.py", line 5
# def main(x: int):
#     return x(1)
#            ~ <--- HERE
