"""A variable with another type in each branch, after a function that deletes an undefined variable."""


def main(x: int):
    del y
    return x


# the second `main` replaces the first one


def main(x: int):
    if x > 1:
        y = 1
    else:
        y = "one"
    return y

# error: CompilationError
# Type mismatch: y is set to type int in the true branch and type str in the false branch:
#   File "delete_undefined.py", line 13
# def main(x: int):
#     if x > 1:
#     ~~~~~~~~~
#         y = 1
#         ~~~~~
#     else:
#     ~~~~~
#         y = "one"
#         ~~~~~~~~ <--- HERE
#     return y
# and was used here:
#   File "delete_undefined.py", line 17
#     else:
#         y = "one"
#     return y
#            ~ <--- HERE
