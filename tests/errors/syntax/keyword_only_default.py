"""A keyword-only parameter with a default."""


def main(x: int, *, y: int = 2):
    return x + y

# error: NotSupportedError
# Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults:
#   File "keyword_only_default.py", line 4
# def main(x: int, *, y: int = 2):
#                              ~ <--- HERE
#     return x + y
# Hint: remove the default, or the `*` before the parameter
