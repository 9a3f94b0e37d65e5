"""A comprehension with two loops."""


def main(x: int):
    return [i + j for i in range(x) for j in range(x)]

# error: NotSupportedError
# Only a single generator is currently supported:
#   File "comprehension_nested.py", line 5
# def main(x: int):
#     return [i + j for i in range(x) for j in range(x)]
#            ~ <--- HERE
# Hint: write nested `for` loops that append to a list
