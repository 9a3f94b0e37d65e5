"""A format specification in an f-string."""


def main(x: float):
    return f"{x:.2f}"

# error: NotSupportedError
# Don't support formatting in JoinedStr:
#   File "f_string_format.py", line 5
# def main(x: float):
#     return f"{x:.2f}"
#            ~ <--- HERE
# Hint: use `format`: `"{:.2f}".format(x)`
