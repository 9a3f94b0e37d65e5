"""A variable is annotated again inside a block."""


def main(x: int):
    y = 1
    if x > 1:
        y: int = 2
    return y

# error: CompilationError
# Attempting to declare and annotate the type of variable 'y' but it is already defined in an outer block:
#   File "redeclared.py", line 7
#     y = 1
#     if x > 1:
#         y: int = 2
#         ~ <--- HERE
#     return y
