"""A list as a default."""

from typing import List


def main(x: List[int] = [1]):
    return x

# error: FrontendError
# Mutable default parameters are not supported because Python binds them to the function and they persist across function calls.
#  As a workaround, make the default None and instantiate the default parameter within the body of the function. Found <class 'list'> on parameter x:
#   File "default_list.py", line 6
# def main(x: List[int] = [1]):
#                         ~~ <--- HERE
#     return x
