"""An int of more than 64 bits."""


def main(x: int):
    return x + 99999999999999999999

# error: CompilationError
# Integral constant out of range (must fit in a signed 64 bit integer): 99999999999999999999:
#   File "int_too_large.py", line 5
# def main(x: int):
#     return x + 99999999999999999999
#                ~~~~~~~~~~~~~~~~~~~~ <--- HERE
