"""A subscript of a number."""


def main(x: int):
    return x[0]

# error: CompilationError
# 'int' object is not subscriptable:
#   File "number_indexed.py", line 5
# def main(x: int):
#     return x[0]
#            ~~~~ <--- HERE
