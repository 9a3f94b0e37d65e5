"""A break outside of a loop."""

UNIT = """
def main(x: int):
    break
"""

# error: CompilationError
# SyntaxError: 'break' outside loop:
#   File "<string>", line 3
#
# def main(x: int):
#     break
#     ~~~~~ <--- HERE
