"""Two `return` statements with values of different types."""


def main(x: int):
    if x > 1:
        return 1
    return "one"

# error: CompilationError
# Previous return statement returned a value of type int but this return statement returns a value of type str:
#   File "return_types_differ.py", line 7
#     if x > 1:
#         return 1
#     return "one"
#     ~~~~~~~~~~~ <--- HERE
# Hint: the int is from line 6, `return 1`; return one type everywhere, or annotate both: `-> Union[int, str]`
