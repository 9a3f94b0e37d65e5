"""`print` with a keyword argument."""


def main(x: int):
    print(x, sep="")

# error: CompilationError
# print doesn't accept any keyword arguments:
#   File "print_keyword.py", line 5
# def main(x: int):
#     print(x, sep="")
#     ~~~~~ <--- HERE
# Hint: it prints one line to standard output; format the string before
