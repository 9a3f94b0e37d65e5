"""`raise` with a number."""


def main(x: int):
    raise x

# error: CompilationError
# exceptions must derive from BaseException:
#   File "raise_number.py", line 5
# def main(x: int):
#     raise x
#     ~~~~~~~ <--- HERE
