"""A variable changes its type in a loop."""


def main(x: int):
    y = 1
    for i in range(x):
        y = "text"
    return y

# error: CompilationError
# Variable 'y' previously had type int but is now being assigned to a value of type str
# :
#   File "changed_in_loop.py", line 7
#     y = 1
#     for i in range(x):
#         y = "text"
#         ~ <--- HERE
#     return y
# Hint: a variable keeps its type in branches and loops; use another name, or convert the value
