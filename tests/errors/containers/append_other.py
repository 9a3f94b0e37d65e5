"""An element of another type is appended to a list."""

from typing import List


def main(x: List[int]):
    x.append("a")
    return x

# error: SchemaMatchError
# aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!):
# Could not match type str to t in argument 'el': Type variable 't' previously matched to type int is matched to type str.
# :
#   File "append_other.py", line 7
# def main(x: List[int]):
#     x.append("a")
#     ~~~~~~~~ <--- HERE
#     return x
# Hint: the elements of a List[int] must have type int
