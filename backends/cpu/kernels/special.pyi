"""Special functions without SciPy, as NumPy ufuncs of float32 and float64."""

import numpy as np

UFUNCS: dict[str, np.ufunc]
OURS_OF_NUMPY: tuple[str, ...]  # names in UFUNCS of the ufuncs that replace those of NumPy
