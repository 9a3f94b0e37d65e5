"""A parenthesis that is not closed."""

UNIT = """
def main(x: int):
    return (x
"""

# error: FrontendError
# expected ) but found 'eof' here; '(' was never closed:
#   File "<string>", line 3
#
# def main(x: int):
#     return (x
#            ~ <--- HERE
