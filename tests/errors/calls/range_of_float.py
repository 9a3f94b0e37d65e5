"""`range` of a float."""


def main(x: float):
    total = 0
    for i in range(x):
        total += i
    return total

# error: CompilationError
# all inputs of range must be ints, found float in argument 0:
#   File "range_of_float.py", line 6
# def main(x: float):
#     total = 0
#     for i in range(x):
#              ~~~~~~~ <--- HERE
#         total += i
#     return total
# Hint: convert it: `range(int(x))`
