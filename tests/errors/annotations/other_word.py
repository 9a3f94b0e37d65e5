"""A type by the name that other languages have for it."""


def main(x: "string"):
    return x

# error: CompilationError
# Unknown type name 'string':
#   File "other_word.py", line 4
# def main(x: "string"):
#             ~~~~~~~ <--- HERE
#     return x
# Hint: write `str`
