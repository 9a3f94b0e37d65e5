"""The class of tensors called in a script."""

import ts


def main():
    return ts.Tensor([1.0, 2.0])

# error: CompilationError
# Unknown builtin op: aten::Tensor.
# Here are some suggestions:
# 	aten::tensor
#
# The original call is:
#   File "tensor_constructor.py", line 7
# def main():
#     return ts.Tensor([1.0, 2.0])
#            ~~~~~~~~~ <--- HERE
# Hint: write `torch.tensor([...])` for values, `torch.empty(...)` for a shape
