"""A string as the end of a slice."""

from typing import List


def main(x: List[int]):
    return x[1:"a"]

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'List[int]'.
#
#   aten::slice.t(t[] l, int? start=None, int? end=None, int step=1) -> t[]:
#   Expected a value of type 'Optional[int]' for argument 'end' but instead found type 'str'.
#
#   aten::slice.str(str string, int? start=None, int? end=None, int step=1) -> str:
#   Expected a value of type 'str' for argument 'string' but instead found type 'List[int]'.
#
# The original call is:
#   File "list_slice.py", line 7
# def main(x: List[int]):
#     return x[1:"a"]
#            ~~~~~~~ <--- HERE
