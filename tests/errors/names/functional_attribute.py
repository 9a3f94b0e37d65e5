"""A name that `ts.nn.functional` does not have."""

import ts.nn.functional as F


def main(x):
    return F.no_such_name(x)

# error: CompilationError
# object has no attribute no_such_name: module 'ts.nn.functional' does not have it:
#   File "functional_attribute.py", line 7
# def main(x):
#     return F.no_such_name(x)
#            ~~~~~~~~~~~~~~ <--- HERE
