"""A type comment whose number of types differs from the number of parameters."""


def main(x, y):
    # type: (int) -> int
    return x

# error: CompilationError
# Number of type annotations (1) did not match the number of function parameters (2):
#   File "comment_count.py", line 4
# def main(x, y):
# ~~~~~~~~~~~~~ <--- HERE
#     # type: (int) -> int
#     return x
