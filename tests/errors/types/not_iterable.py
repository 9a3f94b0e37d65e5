"""A loop over a number."""


def main(x: int):
    for i in x:
        print(i)

# error: CompilationError
# 'int' object is not iterable:
#   File "not_iterable.py", line 5
# def main(x: int):
#     for i in x:
#     ~~~~~~~~~~~
#         print(i)
#         ~~~~~~~ <--- HERE
# Hint: write `range(n)`
