"""A variable is used before its assignment."""


def main(x: int):
    z = y
    y = x
    return z

# error: CompilationError
# undefined value y:
#   File "used_before_assignment.py", line 5
# def main(x: int):
#     z = y
#         ~ <--- HERE
#     y = x
#     return z
