"""Printing has no options."""


def main(x: int):
    print(x, sep="")

# error: CompilationError
# print doesn't accept any keyword arguments:
#   File "print_keyword.py", line 5
# def main(x: int):
#     print(x, sep="")
#     ~~~~~ <--- HERE
# Hint: it prints to the standard output and ends the line; put texts together before
