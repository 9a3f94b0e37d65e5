"""A type name of other languages as an annotation (`string` instead of `str`)."""


def main(x: "string"):
    return x

# error: CompilationError
# Unknown type name 'string':
#   File "other_word.py", line 4
# def main(x: "string"):
#             ~~~~~~~ <--- HERE
#     return x
# Hint: write `str`
