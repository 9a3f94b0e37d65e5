"""A variable that is assigned in the body of a loop only."""


def main(x: int):
    for i in range(x):
        y = i
    return y

# error: CompilationError
# undefined value y:
#   File "defined_in_loop.py", line 7
#     for i in range(x):
#         y = i
#     return y
#            ~ <--- HERE
