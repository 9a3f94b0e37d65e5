"""A variable that refers to a function is assigned a number in a branch."""


def helper(x: int) -> int:
    return x


def main(x: int):
    f = helper
    if x > 1:
        f = 3
    return x


# torch: Cannot re-assign 'f' because it has type value of type 'int' and f is not a first-class value.  Only reassignments to first-class values are allowed

# error: CompilationError
# Cannot re-assign 'f' because it has type function and f is not a first-class value.  Only reassignments to first-class values are allowed:
#   File "reassigned_function.py", line 11
#     f = helper
#     if x > 1:
#         f = 3
#         ~ <--- HERE
#     return x
