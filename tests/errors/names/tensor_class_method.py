"""A method that is called on the class `Tensor`."""

import ts


def main(x: ts.Tensor):
    return ts.Tensor.add(x, x)

# error: CompilationError
# attribute lookup is not defined on builtin:
#   File "tensor_class_method.py", line 7
# def main(x: ts.Tensor):
#     return ts.Tensor.add(x, x)
#            ~~~~~~~~~~~~~ <--- HERE
# Hint: call the method of a tensor: `x.add(...)`
