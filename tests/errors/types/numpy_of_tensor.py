"""`numpy()` of a tensor."""

from ts import Tensor


def main(x: Tensor):
    return x.numpy().sum()

# error: CompilationError
# 'Tensor' object has no attribute or method 'numpy'.:
#   File "numpy_of_tensor.py", line 7
# def main(x: Tensor):
#     return x.numpy().sum()
#            ~~~~~~~ <--- HERE
# Hint: scripts do not support NumPy arrays; use tensors, or an @ts.jit.ignore function
