"""Special functions that need no SciPy, as NumPy ufuncs of float32 and float64."""

import numpy as np

UFUNCS: dict[str, np.ufunc]
OURS_OF_NUMPY: tuple[str, ...]  # among UFUNCS, those that are NumPy's but for some loops
