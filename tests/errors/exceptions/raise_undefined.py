"""`raise` with an undefined exception class."""


def main(x: int):
    raise MissingError("a")

# error: CompilationError
# undefined value MissingError:
#   File "raise_undefined.py", line 5
# def main(x: int):
#     raise MissingError("a")
#           ~~~~~~~~~~~~ <--- HERE
