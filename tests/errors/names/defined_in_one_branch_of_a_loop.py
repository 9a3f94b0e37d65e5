"""A variable that is assigned in one branch in a loop. Its name resembles a builtin function."""


def main(n: int):
    for i in range(n):
        if i > 2:
            last = i
    return last

# error: CompilationError
# last is not defined in the false branch:
#   File "defined_in_one_branch_of_a_loop.py", line 6
# def main(n: int):
#     for i in range(n):
#         if i > 2:
#         ~~~~~~~~~
#             last = i
#             ~~~~~~~~ <--- HERE
#     return last
# and was used here:
#   File "defined_in_one_branch_of_a_loop.py", line 8
#         if i > 2:
#             last = i
#     return last
#            ~~~~ <--- HERE
