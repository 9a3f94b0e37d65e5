"""A continue outside of a loop."""

UNIT = """
def main(x: int):
    if x > 1:
        continue
    return x
"""

# error: CompilationError
# SyntaxError: 'continue' outside loop:
#   File "<string>", line 4
# def main(x: int):
#     if x > 1:
#         continue
#         ~~~~~~~~ <--- HERE
#     return x
