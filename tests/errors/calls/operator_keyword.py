"""An operator is called with an unknown keyword."""

import ts


def main(x):
    return ts.relu(x, factor=2)

# error: SchemaMatchError
# Arguments for call are not valid.
# The following variants are available:
#
#   aten::relu(Tensor self) -> Tensor:
#   Keyword argument factor unknown.
#
#   aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!):
#   Argument out not provided.
#
# The original call is:
#   File "operator_keyword.py", line 7
# def main(x):
#     return ts.relu(x, factor=2)
#            ~~~~~~~ <--- HERE
