"""A variable annotated with an undefined type."""


def main(x: int):
    y: "Missing" = x
    return y

# error: CompilationError
# Unknown type name 'Missing':
#   File "variable_unknown.py", line 5
# def main(x: int):
#     y: "Missing" = x
#        ~~~~~~~~ <--- HERE
#     return y
