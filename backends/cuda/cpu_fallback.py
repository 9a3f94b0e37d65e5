"""CPU fallback of functions and operators that CuPy lacks, on copies of device arrays in host memory.

Input: device arrays. Output: device arrays.

Every call transfers the arrays twice and synchronizes with the device. The first call of each function or
operator warns. Two tables list them:

    FUNCTIONS    NumPy functions that CuPy lacks, for kernels that call xp.NAME
    OPERATORS    operators whose kernel runs on copies in host memory
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from .. import get

Kernel = Callable[..., Any]

FUNCTIONS: dict[str, str] = {
    "nanquantile": "CuPy has no quantiles that ignore NaN",
    "maximum.accumulate": "CuPy accumulates sums and products only",
    "minimum.accumulate": "CuPy accumulates sums and products only",
    "logaddexp.accumulate": "CuPy accumulates sums and products only",
    "multiply.at": "CuPy supports only sums, minima and maxima in scatter operations",
    "maximum.reduceat": "CuPy supports only sums over segments of an axis",
    "minimum.reduceat": "CuPy supports only sums over segments of an axis",
}

OPERATORS: dict[str, str] = {
    "aten::special_airy_ai": "CuPy has no Airy functions",
}

_warned: set[str] = set()


def _warn(name: str, reason: str) -> None:
    if name not in _warned:
        _warned.add(name)
        warnings.warn(f"{name} runs on the CPU for cuda tensors: {reason}", UserWarning, stacklevel=2)


def to_host(x: Any) -> Any:
    """Convert device arrays to NumPy arrays, including device arrays in lists and tuples."""
    if isinstance(x, cupy.ndarray):
        return cupy.asnumpy(x)
    return type(x)(map(to_host, x)) if type(x) in (list, tuple) else x


def to_device(x: Any) -> Any:
    """Convert NumPy arrays to arrays on the current device, including NumPy arrays in lists and tuples."""
    if isinstance(x, (np.ndarray, np.generic)):
        return cupy.asarray(x)
    return type(x)(map(to_device, x)) if type(x) in (list, tuple) else x


def numpy_function(name: str) -> Callable[..., Any]:
    """Return NumPy's function `name` for device arrays, or raise AttributeError if it is not in FUNCTIONS."""
    if name not in FUNCTIONS:
        raise AttributeError(f"module 'cupy' has no attribute '{name}'")
    target: Any = np
    for attribute in name.split("."):
        target = getattr(target, attribute)

    def call_on_host(*args: Any, **kwargs: Any) -> Any:
        _warn(f"numpy.{name}", FUNCTIONS[name])
        hosts = [to_host(x) for x in args]
        result = target(*hosts, **{k: to_host(v) for k, v in kwargs.items()})
        # The function returned None, so it has changed the host copy of its first argument in place.
        if result is None:
            args[0][...] = cupy.asarray(hosts[0])
        return to_device(result)

    return call_on_host


def host_kernel(name: str, kernel: Kernel) -> Kernel:
    """Return a kernel that runs `kernel` on copies in host memory."""

    def call_on_host(xp: Any, *args: Any) -> Any:
        _warn(name, OPERATORS[name])
        with np.errstate(all="ignore"):
            return to_device(kernel(get("cpu").xp, *map(to_host, args)))

    return call_on_host
