"""`Dict` with one type argument instead of two."""

UNIT = """
def f(d: Dict[str]):
    return d
"""

# error: CompilationError
# expected exactly 2 element types but found 1:
#   File "<string>", line 2
#
# def f(d: Dict[str]):
#          ~~~~~~~~~ <--- HERE
#     return d
# Hint: write `Dict[str, int]`
