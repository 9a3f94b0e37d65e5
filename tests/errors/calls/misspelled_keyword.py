"""A misspelled keyword."""

import ts


def main(x: ts.Tensor):
    return ts.sum(x, dims=0)

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor:
#   Keyword argument dims unknown.
#
#   aten::sum.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!):
#   Argument out not provided.
#
#   and 6 other overloads, which match no better.
#
# The original call is:
#   File "misspelled_keyword.py", line 7
# def main(x: ts.Tensor):
#     return ts.sum(x, dims=0)
#            ~~~~~~ <--- HERE
# Hint: did you mean 'dim'?
