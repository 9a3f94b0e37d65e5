"""Special functions without SciPy (rational approximation, asymptotic expansion, reflection formula)."""

import numpy as np

UFUNCS: dict[str, np.ufunc]
OURS_OF_NUMPY: tuple[str, ...]  # names in UFUNCS of the ufuncs that replace those of NumPy
