"""`sum` of a list of strings."""

from typing import List


def main(x: List[str]):
    return sum(x)

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'List[str]'.
#
#   aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'List[str]'.
#
#   aten::sum.IntList_out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'List[str]'.
#
#   aten::sum.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'self' but instead found type 'List[str]'.
#
#   aten::sum.int(int[] self) -> int:
#   Expected a value of type 'List[int]' for argument 'self' but instead found type 'List[str]'.
#
#   aten::sum.float(float[] self) -> float:
#   Expected a value of type 'List[float]' for argument 'self' but instead found type 'List[str]'.
#
#   and 2 other overloads, which match no better.
#
# The original call is:
#   File "sum_of_texts.py", line 7
# def main(x: List[str]):
#     return sum(x)
#            ~~~ <--- HERE
