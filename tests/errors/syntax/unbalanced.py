"""Text that is no Python."""

UNIT = """
def main(x: int):
    return (x
"""


# torch: expected ) but found 'eof' here

# error: FrontendError
# '(' was never closed:
#   File "<string>", line 3
#
# def main(x: int):
#     return (x
#            ~ <--- HERE
