"""A variable changes its type in a branch."""


def main(x: int):
    y = 1
    if x > 1:
        y = "text"
    return y

# error: CompilationError
# Variable 'y' previously had type int but is now being assigned to a value of type str
# :
#   File "changed_in_branch.py", line 7
#     y = 1
#     if x > 1:
#         y = "text"
#         ~ <--- HERE
#     return y
# Hint: a variable keeps its type in branches and loops; use another name, or convert the value
