"""The value of a variable has another type than its annotation."""


def main(x: int):
    y: str = x
    return y

# error: CompilationError
# Variable 'y' is annotated with type str but is being assigned to a value of type int:
#   File "annotated_variable.py", line 5
# def main(x: int):
#     y: str = x
#     ~ <--- HERE
#     return y
