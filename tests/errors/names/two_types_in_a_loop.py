"""The branches of an `if` in a loop assign values of different types to a variable."""


def main(n: int):
    for i in range(n):
        if i > 2:
            y = 1
        else:
            y = "a"
    return y

# error: CompilationError
# Type mismatch: y is set to type int in the true branch and type str in the false branch:
#   File "two_types_in_a_loop.py", line 6
# def main(n: int):
#     for i in range(n):
#         if i > 2:
#         ~~~~~~~~~
#             y = 1
#             ~~~~~
#         else:
#         ~~~~~
#             y = "a"
#             ~~~~~~ <--- HERE
#     return y
# and was used here:
#   File "two_types_in_a_loop.py", line 10
#         else:
#             y = "a"
#     return y
#            ~ <--- HERE
