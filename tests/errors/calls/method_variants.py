"""A method without an overload for the type of the argument."""


def main(x):
    return x.fill_("a")

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!):
#   Expected a value of type 'number' for argument 'value' but instead found type 'str'.
#
#   aten::fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'value' but instead found type 'str'.
#
# The original call is:
#   File "method_variants.py", line 5
# def main(x):
#     return x.fill_("a")
#            ~~~~~~~ <--- HERE
# Hint: found Tensor and str
