"""`range` with a string as its end."""


def main(x: str):
    for i in range(x):
        print(i)

# error: CompilationError
# all inputs of range must be ints, found str in argument 0:
#   File "range_of_text.py", line 5
# def main(x: str):
#     for i in range(x):
#              ~~~~~~~ <--- HERE
#         print(i)
# Hint: convert it: `range(int(x))`
