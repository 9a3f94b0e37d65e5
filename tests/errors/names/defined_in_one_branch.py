"""A variable that is assigned in one branch only."""


def main(x: int):
    if x > 1:
        y = x
    return y

# error: CompilationError
# y is not defined in the false branch:
#   File "defined_in_one_branch.py", line 5
# def main(x: int):
#     if x > 1:
#     ~~~~~~~~~
#         y = x
#         ~~~~~ <--- HERE
#     return y
# and was used here:
#   File "defined_in_one_branch.py", line 7
#     if x > 1:
#         y = x
#     return y
#            ~ <--- HERE
