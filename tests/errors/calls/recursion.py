"""A recursive function without a return annotation."""


def main(x: int):
    if x > 0:
        return main(x - 1)
    return 0

# error: CompilationError
# function 'main' is called recursively. Recursive calls are not supported: annotate the return type:
#   File "recursion.py", line 6
# def main(x: int):
#     if x > 0:
#         return main(x - 1)
#                ~~~~ <--- HERE
#     return 0
