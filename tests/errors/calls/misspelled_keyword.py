"""A keyword that is spelled otherwise."""

import ts


def main(x: ts.Tensor):
    return ts.sum(x, dims=0)

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor:
#   Argument dim not provided.
#
#   aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor:
#   Keyword argument dims unknown.
#
#   aten::sum.IntList_out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!):
#   Argument dim not provided.
#
#   aten::sum.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!):
#   Argument out not provided.
#
#   aten::sum.int(int[] self) -> int:
#   Keyword argument dims unknown.
#
#   aten::sum.float(float[] self) -> float:
#   Keyword argument dims unknown.
#
#   aten::sum.complex(complex[] self) -> complex:
#   Keyword argument dims unknown.
#
#   aten::sum.bool(bool[] self) -> int:
#   Expected a value of type 'bool' for argument '' but instead found type 'Tensor'.
#
# The original call is:
#   File "misspelled_keyword.py", line 7
# def main(x: ts.Tensor):
#     return ts.sum(x, dims=0)
#            ~~~~~~ <--- HERE
# Hint: did you mean 'dim'?
