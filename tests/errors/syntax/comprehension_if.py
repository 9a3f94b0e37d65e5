"""A comprehension with a condition."""


def main(x: int):
    return [i for i in range(x) if i > 1]

# error: NotSupportedError
# Comprehension ifs are not supported yet:
#   File "comprehension_if.py", line 5
# def main(x: int):
#     return [i for i in range(x) if i > 1]
#            ~ <--- HERE
# Hint: append to a list in a `for` loop
