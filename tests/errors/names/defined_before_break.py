"""A variable that is assigned before `break`."""


def main(n: int):
    for i in range(n):
        if i > 2:
            y = i
            break
    return y

# error: CompilationError
# y is not defined in the false branch:
#   File "defined_before_break.py", line 6
# def main(n: int):
#     for i in range(n):
#         if i > 2:
#         ~~~~~~~~~
#             y = i
#             ~~~~~
#             break
#             ~~~~~ <--- HERE
#     return y
# and was used here:
#   File "defined_before_break.py", line 9
#             y = i
#             break
#     return y
#            ~ <--- HERE
