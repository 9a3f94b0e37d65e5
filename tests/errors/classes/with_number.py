"""A number as the context manager of a `with` statement."""


def main():
    with 3:
        return 1
    return 2

# error: CompilationError
# With item expression must return an object:
#   File "with_number.py", line 5
# def main():
#     with 3:
#          ~ <--- HERE
#         return 1
#     return 2
