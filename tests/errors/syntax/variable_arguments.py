"""Any number of arguments."""


def main(x: int, *rest):
    return x

# error: NotSupportedError
# Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults:
#   File "variable_arguments.py", line 4
# def main(x: int, *rest):
#                  ~~~~~ <--- HERE
#     return x
# Hint: take a list, a dict or a tuple, or parameters one by one
