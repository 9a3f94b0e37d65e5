"""An operator is called with an argument of the wrong type."""

import ts


def main(x):
    return ts.mm(x, "a")

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::mm(Tensor self, Tensor mat2) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'mat2' but instead found type 'str'.
#
#   aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'mat2' but instead found type 'str'.
#
#   aten::mm.dtype_out(Tensor self, Tensor mat2, ScalarType out_dtype, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'mat2' but instead found type 'str'.
#
#   aten::mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'mat2' but instead found type 'str'.
#
# The original call is:
#   File "operator_type.py", line 7
# def main(x):
#     return ts.mm(x, "a")
#            ~~~~~ <--- HERE
# Hint: found Tensor and str
