"""`isinstance` with one argument instead of two."""


def main(x: int):
    return isinstance(x)

# error: CompilationError
# isinstance expected exactly 2 arguments but found 1:
#   File "isinstance_of_one.py", line 5
# def main(x: int):
#     return isinstance(x)
#            ~~~~~~~~~~~~ <--- HERE
