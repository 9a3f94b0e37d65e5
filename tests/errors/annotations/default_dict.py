"""A dict as a default."""

from typing import Dict


def main(x: Dict[str, int] = {}):
    return x

# error: FrontendError
# Mutable default parameters are not supported because Python binds them to the function and they persist across function calls.
#  As a workaround, make the default None and instantiate the default parameter within the body of the function. Found <class 'dict'> on parameter x:
#   File "default_dict.py", line 6
# def main(x: Dict[str, int] = {}):
#                              ~ <--- HERE
#     return x
