"""A conversion (`!r`) in an f-string."""


def main(x: int):
    return f"{x!r}"

# error: NotSupportedError
# Don't support conversion in JoinedStr:
#   File "f_string_conversion.py", line 5
# def main(x: int):
#     return f"{x!r}"
#            ~ <--- HERE
# Hint: remove the conversion (such as `!r`)
