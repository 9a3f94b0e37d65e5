"""A comprehension over a number."""


def main(x: int):
    return [i for i in x]

# error: CompilationError
# 'int' object is not iterable:
#   File "comprehension_of_number.py", line 5
# def main(x: int):
#     return [i for i in x]
#            ~~~~~~~~~~~~~ <--- HERE
# Hint: write `range(n)`
