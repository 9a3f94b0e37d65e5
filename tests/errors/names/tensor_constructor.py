"""A call of the class `Tensor`."""

import ts


def main(x: float):
    return ts.Tensor([x])

# error: CompilationError
# Unknown builtin op: aten::Tensor.
# Here are some suggestions:
# 	aten::tensor
#
# The original call is:
#   File "tensor_constructor.py", line 7
# def main(x: float):
#     return ts.Tensor([x])
#            ~~~~~~~~~ <--- HERE
# Hint: write `torch.tensor([...])` for values, `torch.empty(...)` for a shape
