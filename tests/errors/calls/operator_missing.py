"""An operator is called without its second argument."""

import ts


def main(x):
    return ts.mm(x)

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::mm(Tensor self, Tensor mat2) -> Tensor:
#   Argument mat2 not provided.
#
#   aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!):
#   Argument mat2 not provided.
#
#   aten::mm.dtype_out(Tensor self, Tensor mat2, ScalarType out_dtype, *, Tensor(a!) out) -> Tensor(a!):
#   Argument mat2 not provided.
#
#   aten::mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor:
#   Argument mat2 not provided.
#
# The original call is:
#   File "operator_missing.py", line 7
# def main(x):
#     return ts.mm(x)
#            ~~~~~ <--- HERE
