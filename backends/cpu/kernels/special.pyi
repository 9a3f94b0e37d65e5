"""Special functions without SciPy, as NumPy ufuncs of float32 and float64."""

import numpy as np

UFUNCS: dict[str, np.ufunc]
OURS_OF_NUMPY: tuple[str, ...]  # NumPy's ufuncs among UFUNCS, with some loops replaced
