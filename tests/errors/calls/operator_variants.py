"""An operator without an overload for the type of the argument."""

import ts


def main(x):
    return ts.clamp_min(x, "a")

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::clamp_min(Tensor self, Scalar min) -> Tensor:
#   Expected a value of type 'number' for argument 'min' but instead found type 'str'.
#
#   aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'min' but instead found type 'str'.
#
#   aten::clamp_min.out(Tensor self, Scalar min, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'number' for argument 'min' but instead found type 'str'.
#
#   aten::clamp_min.Tensor_out(Tensor self, Tensor min, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'min' but instead found type 'str'.
#
# The original call is:
#   File "operator_variants.py", line 7
# def main(x):
#     return ts.clamp_min(x, "a")
#            ~~~~~~~~~~~~ <--- HERE
# Hint: found Tensor and str
