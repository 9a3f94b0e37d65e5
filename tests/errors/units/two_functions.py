"""Two functions do not compile: both errors are reported."""

UNIT = """
def first(x: int) -> int:
    return x + missing

def second(x: int) -> str:
    return x

def third(x: int) -> int:
    return x
"""

# error: CompilationError
# undefined value missing:
#   File "<string>", line 3
#
# def first(x: int) -> int:
#     return x + missing
#                ~~~~~~~ <--- HERE
#
# def second(x: int) -> str:
#
# 1 more error:
# Return value was annotated as having type str but is actually of type int:
#   File "<string>", line 6
#
# def second(x: int) -> str:
#     return x
#     ~~~~~~~~ <--- HERE
#
# def third(x: int) -> int:
# Hint: convert the value, or write the type `int`
