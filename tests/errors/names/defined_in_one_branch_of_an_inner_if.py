"""A variable that only one branch of an inner `if` assigns."""


def main(n: int):
    if n > 1:
        if n > 2:
            y = 1
    return y

# error: CompilationError
# y is not defined in the false branch:
#   File "defined_in_one_branch_of_an_inner_if.py", line 6
# def main(n: int):
#     if n > 1:
#         if n > 2:
#         ~~~~~~~~~
#             y = 1
#             ~~~~~ <--- HERE
#     return y
# and was used here:
#   File "defined_in_one_branch_of_an_inner_if.py", line 8
#         if n > 2:
#             y = 1
#     return y
#            ~ <--- HERE
