"""A function with `*args`."""


def main(x: int, *rest):
    return x

# error: NotSupportedError
# Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults:
#   File "variable_arguments.py", line 4
# def main(x: int, *rest):
#                  ~~~~~ <--- HERE
#     return x
# Hint: declare a list, dict or tuple parameter, or separate parameters
