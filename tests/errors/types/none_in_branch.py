"""A variable that is a number is assigned None in a branch."""


def main(x: int):
    y = 1
    if x > 1:
        y = None
    return y

# error: CompilationError
# Variable 'y' previously had type int but is now being assigned to a value of type NoneType
# :
#   File "none_in_branch.py", line 7
#     y = 1
#     if x > 1:
#         y = None
#         ~ <--- HERE
#     return y
# Hint: annotate the first assignment: `y: Optional[int] = ...`
