"""A call of a NumPy function."""

import numpy as np
from ts import Tensor


def main(x: Tensor):
    return np.mean(x)

# torch: cannot create weak reference to 'numpy._ArrayFunctionDispatcher' object

# error: SchemaMatchError
# mean(Tensor a, Tensor axis, Tensor dtype, Tensor out, Tensor keepdims, *, Tensor where) -> Tensor 0:
# Argument axis not provided.
# :
#   File "numpy_function.py", line 8
# def main(x: Tensor):
#     return np.mean(x)
#            ~~~~~~~ <--- HERE
# Hint: scripts cannot call NumPy functions; use torch.mean or an @ts.jit.ignore function
