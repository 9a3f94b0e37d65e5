"""A variable that is assigned in a loop. Its name resembles a builtin function, but it is not misspelled."""


def main(n: int):
    for i in range(n):
        last = i
    return last

# error: CompilationError
# undefined value last:
#   File "name_like_builtin_in_loop.py", line 7
#     for i in range(n):
#         last = i
#     return last
#            ~~~~ <--- HERE
