"""A function that does not return a value on all paths."""


def main(x: int) -> int:
    if x > 1:
        return 1

# error: CompilationError
# Function was not annotated as having type None, but does not return along all paths:
#   File "not_on_all_paths.py", line 4
# def main(x: int) -> int:
# ~~~~~~~~~~~~~~~~~~~~~~~~
#     if x > 1:
#     ~~~~~~~~~
#         return 1
#         ~~~~~~~~ <--- HERE
# Hint: end with a `return` or a `raise`, or annotate the result as Optional
