"""An empty list is annotated in the class body instead of at its assignment in `__init__`."""

from typing import List


class Log:
    lines: List[str]

    def __init__(self):
        self.lines = []

    def add(self, line: str) -> None:
        self.lines.append(line)


def main() -> int:
    log = Log()
    log.add("x")
    return 1

# error: SchemaMatchError
# aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!):
# Could not match type str to t in argument 'el': Type variable 't' previously matched to type Tensor is matched to type str.
# :
#   File "list_annotated_in_body.py", line 13
#     def add(self, line: str) -> None:
#         self.lines.append(line)
#         ~~~~~~~~~~~~~~~~~ <--- HERE
# 'Log.add' is being compiled since it was called from 'main'
#   File "list_annotated_in_body.py", line 18
# def main() -> int:
#     log = Log()
#     log.add("x")
#     ~~~~~~~ <--- HERE
#     return 1
# Hint: `[]` is a list of tensors unless it is annotated: `x: List[str] = []`
