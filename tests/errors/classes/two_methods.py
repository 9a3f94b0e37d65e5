"""Two methods do not compile: both errors are reported."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x

    def first(self) -> int:
        return self.x + missing

    def second(self) -> str:
        return self.x


def main():
    return 1

# error: CompilationError
# undefined value missing:
#   File "two_methods.py", line 12
#     def first(self) -> int:
#         return self.x + missing
#                         ~~~~~~~ <--- HERE
#
# 1 more error:
# Return value was annotated as having type str but is actually of type int:
#   File "two_methods.py", line 15
#     def second(self) -> str:
#         return self.x
#         ~~~~~~~~~~~~~ <--- HERE
# Hint: convert the value, or write the type `int`
