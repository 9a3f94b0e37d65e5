"""`is not None` refines variables, not attributes: another read of the attribute is Optional."""

from typing import Optional

import ts


class Layer(ts.nn.Module):
    bias: Optional[ts.Tensor]

    def __init__(self):
        super().__init__()
        self.bias = ts.ones(2)

    def forward(self, x):
        if self.bias is not None:
            return x + self.bias
        return x


main = Layer()

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor:
#   Expected a value of type 'Tensor' for argument 'other' but instead found type 'Optional[Tensor]'.
#
#   aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor:
#   Expected a value of type 'number' for argument 'other' but instead found type 'Optional[Tensor]'.
#
#   aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'Tensor' for argument 'other' but instead found type 'Optional[Tensor]'.
#
#   aten::add.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> Tensor(a!):
#   Expected a value of type 'number' for argument 'other' but instead found type 'Optional[Tensor]'.
#
#   aten::add.int(int a, int b) -> int:
#   Expected a value of type 'int' for argument 'b' but instead found type 'Optional[Tensor]'.
#
#   aten::add.complex(complex a, complex b) -> complex:
#   Expected a value of type 'complex' for argument 'b' but instead found type 'Optional[Tensor]'.
#
#   and 13 other overloads, which match no better.
#
# The original call is:
#   File "optional_attribute_of_self.py", line 17
#     def forward(self, x):
#         if self.bias is not None:
#             return x + self.bias
#                    ~~~~~~~~~~~~~ <--- HERE
#         return x
# Hint: the attribute may be None, and a test does not refine the type of an attribute: assign it to a variable, `bias = self.bias`, and test that
