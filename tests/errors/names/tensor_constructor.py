"""The class of tensors as a function."""

import ts


def main(x: float):
    return ts.Tensor([x])

# error: CompilationError
# Unknown builtin op: aten::Tensor.
# Could not find any similar ops to aten::Tensor. This op may not exist or may not be currently supported in TorchScript.
# :
#   File "tensor_constructor.py", line 7
# def main(x: float):
#     return ts.Tensor([x])
#            ~~~~~~~~~ <--- HERE
