"""A string annotation with an undefined name."""


def main(x: "Missing"):
    return 1

# error: CompilationError
# Unknown type name 'Missing':
#   File "unknown_in_quotes.py", line 4
# def main(x: "Missing"):
#             ~~~~~~~~ <--- HERE
#     return 1
