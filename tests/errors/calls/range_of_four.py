"""`range` with four arguments."""


def main(x: int):
    for i in range(1, 2, 3, x):
        print(i)

# error: CompilationError
# range expected at most 3 arguments, got 4:
#   File "range_of_four.py", line 5
# def main(x: int):
#     for i in range(1, 2, 3, x):
#              ~~~~~~~~~~~~~~~~ <--- HERE
#         print(i)
