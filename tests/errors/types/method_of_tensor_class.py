"""A method of tensors, taken from their class."""

import ts


def main(x):
    return ts.Tensor.add(x, x)

# error: CompilationError
# attribute lookup is not defined on builtin:
#   File "method_of_tensor_class.py", line 7
# def main(x):
#     return ts.Tensor.add(x, x)
#            ~~~~~~~~~~~~~ <--- HERE
# Hint: call the method of a tensor: `x.add(...)`
