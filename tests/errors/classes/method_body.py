"""A called method does not compile."""

import ts


@ts.jit.script
class Point:
    def __init__(self, x: int):
        self.x = x

    def broken(self) -> int:
        return self.x + missing


def main():
    return 1

# error: CompilationError
# undefined value missing:
#   File "method_body.py", line 12
#     def broken(self) -> int:
#         return self.x + missing
#                         ~~~~~~~ <--- HERE
