"""A parameter annotated as a NumPy array."""

import numpy as np


def main(x: np.ndarray):
    return x

# error: CompilationError
# Unknown type name 'np.ndarray':
#   File "numpy_array.py", line 6
# def main(x: np.ndarray):
#             ~~~~~~~~~~ <--- HERE
#     return x
# Hint: arrays are tensors in scripts: `Tensor`
