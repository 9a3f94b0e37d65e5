"""Calls of Python kernels on the CPU, with NumPy warnings disabled and BLAS limited to one thread.

Input: a kernel, its arguments, and a device, which is ignored. Output: the kernel's result. Example:

    run(kernel, [np, x, y], -1)        returns kernel(np, x, y)
"""

import numpy as np

from cpython.contextvars cimport PyContextVar_Reset, PyContextVar_Set

from ts.backends.cpu.kernels cimport blas_thread_limit

cdef object _error_state = getattr(np._core.umath, "_extobj_contextvar", None)
cdef object _ignore = np._core.umath._make_extobj(all="ignore") if _error_state is not None else None


def run(kernel, list args not None, device):
    """Return kernel(*args). `device` is ignored, because there is only one CPU device."""
    blas_thread_limit.begin()
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
        blas_thread_limit.end()
