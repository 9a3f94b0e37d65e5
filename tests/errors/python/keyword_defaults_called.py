"""A called function with a default for a keyword-only parameter."""


def helper(a: int, *, b: int = 2) -> int:
    return a + b


def main(x: int):
    return helper(x, b=3)

# error: NotSupportedError
# Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults:
#   File "keyword_defaults_called.py", line 4
# def helper(a: int, *, b: int = 2) -> int:
#                                ~ <--- HERE
#     return a + b
# 'helper' is being compiled since it was called from 'main'
#   File "keyword_defaults_called.py", line 9
# def main(x: int):
#     return helper(x, b=3)
#            ~~~~~~~~~~~~~ <--- HERE
# Hint: remove the default, or the `*` before the parameter
