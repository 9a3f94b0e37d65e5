"""Execution of Python kernels on the CPU: NumPy warnings disabled, BLAS limited to one thread.

    run(kernel, [np, x, y], -1)        kernel(np, x, y)

NumPy's loops read the error state from a context variable. Setting it directly does the work of `np.errstate`
at a tenth of its cost. If a NumPy version has no such variable, `np.errstate` is used.
"""

import numpy as np

from cpython.contextvars cimport PyContextVar_Reset, PyContextVar_Set

from ts.backends.cpu.kernels cimport one_thread

cdef object _error_state = getattr(np._core.umath, "_extobj_contextvar", None)
cdef object _ignore = np._core.umath._make_extobj(all="ignore") if _error_state is not None else None


def run(kernel, list args not None, device):
    """Return kernel(*args); `device` is ignored, since there is one CPU."""
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
