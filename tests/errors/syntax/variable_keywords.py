"""A function with `**kwargs`."""


def main(x: int, **options):
    return x

# error: NotSupportedError
# Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults:
#   File "variable_keywords.py", line 4
# def main(x: int, **options):
#                   ~~~~~~~~ <--- HERE
#     return x
# Hint: declare a list, dict or tuple parameter, or separate parameters
