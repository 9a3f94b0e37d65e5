"""The returned value has another type than the return annotation."""


def main(x: int) -> str:
    return x

# error: CompilationError
# Return value was annotated as having type str but is actually of type int:
#   File "return_type.py", line 5
# def main(x: int) -> str:
#     return x
#     ~~~~~~~~ <--- HERE
# Hint: convert the value, or write the type `int`
