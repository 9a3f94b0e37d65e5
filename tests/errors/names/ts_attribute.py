"""A name that `ts` does not have."""

import ts


def main(x):
    return ts.no_such_name(x)

# error: CompilationError
# object has no attribute no_such_name: module 'ts' does not have it:
#   File "ts_attribute.py", line 7
# def main(x):
#     return ts.no_such_name(x)
#            ~~~~~~~~~~~~~~~ <--- HERE
