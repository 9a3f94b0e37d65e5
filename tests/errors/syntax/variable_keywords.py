"""Any keyword arguments."""


def main(x: int, **options):
    return x

# error: NotSupportedError
# Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults:
#   File "variable_keywords.py", line 4
# def main(x: int, **options):
#                   ~~~~~~~~ <--- HERE
#     return x
# Hint: take a list, a dict or a tuple, or parameters one by one
