"""A variable that is assigned if the iteration does not end with `break`."""


def main(n: int):
    for i in range(n):
        if i > 2:
            break
        else:
            y = i
    return y

# error: CompilationError
# y is not defined in the true branch:
#   File "defined_after_break.py", line 6
# def main(n: int):
#     for i in range(n):
#         if i > 2:
#         ~~~~~~~~~
#             break
#             ~~~~~
#         else:
#         ~~~~~
#             y = i
#             ~~~~~ <--- HERE
#     return y
# and was used here:
#   File "defined_after_break.py", line 10
#         else:
#             y = i
#     return y
#            ~ <--- HERE
