"""The attribute name of `getattr` is not a string literal."""


def main(x: int, name: str):
    return getattr(x, name)

# error: CompilationError
# getattr's second argument must be a string literal:
#   File "getattr_of_name.py", line 5
# def main(x: int, name: str):
#     return getattr(x, name)
#            ~~~~~~~~~~~~~~~ <--- HERE
