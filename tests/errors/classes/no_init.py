"""A class without `__init__` is called with arguments."""

import ts


@ts.jit.script
class Empty:
    def get(self) -> int:
        return 1


def main():
    return Empty(3).get()

# error: CompilationError
# Class Empty does not have an __init__ function defined:
#   File "no_init.py", line 13
# def main():
#     return Empty(3).get()
#            ~~~~~ <--- HERE
