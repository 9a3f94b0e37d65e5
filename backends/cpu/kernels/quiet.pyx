"""Kernels in Python as the CPU runs them: without NumPy's warnings, its linear algebra on one thread.

    run(kernel, [np, x, y], -1)        kernel(np, x, y)

NumPy's loops look at the error state in a context variable; setting it is what `np.errstate` does, at a tenth of the
price.  Where a NumPy version hides it elsewhere, errstate itself serves.
"""

import numpy as np

from cpython.contextvars cimport PyContextVar_Reset, PyContextVar_Set

from ts.backends.cpu.kernels cimport one_thread

cdef object _error_state = getattr(np._core.umath, "_extobj_contextvar", None)
cdef object _ignore = np._core.umath._make_extobj(all="ignore") if _error_state is not None else None


def run(kernel, list args not None, device):
    """kernel(*args) on the one device that there is."""
    one_thread.begin()
    try:
        if _error_state is None:
            with np.errstate(all="ignore"):
                return kernel(*args)
        token = PyContextVar_Set(_error_state, _ignore)
        try:
            return kernel(*args)
        finally:
            PyContextVar_Reset(_error_state, token)
    finally:
        one_thread.end()
