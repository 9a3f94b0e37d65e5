"""How many threads an operator may use: `ts.set_num_threads` and `ts.get_num_threads`.

In: a number.  Out: that of the threads of our own kernels (`ts._core.workers`: convolutions) and of the
linear algebra library behind NumPy (and SciPy):

    ts.set_num_threads(1)            matrix products and convolutions run on one thread
    ts.get_num_threads()             1

With `threadpoolctl` installed, every library that it knows is set; without it, the OpenBLAS that NumPy and
SciPy bring in their wheels.  Forked programs have threads of their own: `ts.set_num_interop_threads`.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ts._core import blas, workers

# In wheels the symbols have a prefix, and a suffix where integers have 64 bits.
_PREFIXES = ("scipy_openblas", "openblas")
_SUFFIXES = ("64_", "")


def set_num_threads(count: int) -> None:
    """Set how many threads an operator uses on the CPU."""
    if not isinstance(count, int) or isinstance(count, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    workers.set_count(count)
    found = blas.library()
    if found is not None and found.set_threads is not None:
        found.set_threads(count)
    if _has_threadpoolctl():
        importlib.import_module("threadpoolctl").threadpool_limits(limits=count, user_api="blas")
        return
    setters = list(_setters())
    if not setters:
        warnings.warn(
            "set_num_threads does not know the linear algebra library of this NumPy; install threadpoolctl, "
            "or set OMP_NUM_THREADS before Python starts",
            stacklevel=2,
        )
    for setter in setters:
        setter(count)


def get_num_threads() -> int:
    """How many threads an operator uses on the CPU."""
    return workers.count()


def _has_threadpoolctl() -> bool:
    return importlib.util.find_spec("threadpoolctl") is not None


def _setters() -> Iterator[Callable[[int], Any]]:
    """What sets the threads of the OpenBLAS of the wheels of NumPy and, once it is loaded, SciPy."""
    for name in ("numpy", "scipy"):
        package = sys.modules.get(name)
        if package is None or package.__file__ is None:
            continue
        folder = Path(package.__file__).parent
        for place in (folder.parent / f"{name}.libs", folder / ".dylibs"):
            for path in sorted(place.glob("*openblas*")):
                setter = _setter(path)
                if setter is not None:
                    yield setter


def _setter(path: Path) -> Callable[[int], Any] | None:
    try:
        library = ctypes.CDLL(str(path))  # the one that is loaded already
    except OSError:
        return None
    for prefix in _PREFIXES:
        for suffix in _SUFFIXES:
            setter: Callable[[int], Any] | None = getattr(library, f"{prefix}_set_num_threads{suffix}", None)
            if setter is not None:
                return setter
    return None
