"""What runs on the CPU because CuPy has nothing for it: functions and whole operators, with one warning each.

In: arrays of the device; out: arrays of the device.  Each costs two transfers and waits for the device, so
it is named: the first use of a name warns, and `docs/backends.md` lists the names from the tables here.

    FUNCTIONS    names of NumPy's that CuPy lacks, for kernels that call xp.NAME
    OPERATORS    operators whose whole kernel runs on copies in host memory
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
    "nanquantile": "CuPy has quantiles, but none that leave out NaN",
    "maximum.accumulate": "CuPy accumulates sums and products only",
    "minimum.accumulate": "CuPy accumulates sums and products only",
    "logaddexp.accumulate": "CuPy accumulates sums and products only",
    "multiply.at": "CuPy scatters sums and extremes only",
    "maximum.reduceat": "CuPy reduces parts of an axis by sums only",
    "minimum.reduceat": "CuPy reduces parts of an axis by sums only",
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
    """Arrays of the device, also in lists and tuples, as NumPy arrays."""
    if isinstance(x, cupy.ndarray):
        return cupy.asnumpy(x)
    return type(x)(map(to_host, x)) if type(x) in (list, tuple) else x


def to_device(x: Any) -> Any:
    """NumPy arrays, also in lists and tuples, as arrays of the current device."""
    if isinstance(x, (np.ndarray, np.generic)):
        return cupy.asarray(x)
    return type(x)(map(to_device, x)) if type(x) in (list, tuple) else x


def function(name: str) -> Callable[..., Any]:
    """NumPy's function `name` for arrays of the device; AttributeError where it is not in the table."""
    if name not in FUNCTIONS:
        raise AttributeError(f"module 'cupy' has no attribute '{name}'")
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part)

    def called(*args: Any, **kwargs: Any) -> Any:
        _warn(f"numpy.{name}", FUNCTIONS[name])
        hosts = [to_host(x) for x in args]
        result = found(*hosts, **{k: to_host(v) for k, v in kwargs.items()})
        if result is None:  # it wrote into its first argument
            args[0][...] = cupy.asarray(hosts[0])
        return to_device(result)

    return called


def operator(name: str, kernel: Kernel) -> Kernel:
    """An operator's kernel on copies in host memory."""

    def called(xp: Any, *args: Any) -> Any:
        _warn(name, OPERATORS[name])
        with np.errstate(all="ignore"):
            return to_device(kernel(get("cpu").xp, *map(to_host, args)))

    return called
