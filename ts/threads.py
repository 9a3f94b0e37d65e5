"""How many threads an operator may use: `ts.set_num_threads` and `ts.get_num_threads`.

In: a number.  Out: that of the linear algebra library behind NumPy (and SciPy), the only part of an operator
on the CPU that uses several threads:

    ts.set_num_threads(1)            matrix products run on one thread
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
from typing import Any, NamedTuple

# In wheels the symbols have a prefix, and a suffix where integers have 64 bits.
_PREFIXES = ("scipy_openblas", "openblas")
_SUFFIXES = ("64_", "")


class _Library(NamedTuple):
    get: Callable[[], int]
    set: Callable[[int], Any]


def set_num_threads(count: int) -> None:
    """Set how many threads a linear algebra operator uses on the CPU."""
    if not isinstance(count, int) or isinstance(count, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    if _has_threadpoolctl():
        importlib.import_module("threadpoolctl").threadpool_limits(limits=count, user_api="blas")
        return
    libraries = list(_libraries())
    if not libraries:
        warnings.warn(
            "set_num_threads does not know the linear algebra library of this NumPy; install threadpoolctl, "
            "or set OMP_NUM_THREADS before Python starts",
            stacklevel=2,
        )
    for library in libraries:
        library.set(count)


def get_num_threads() -> int:
    """How many threads a linear algebra operator uses on the CPU; 1 where nobody knows."""
    if _has_threadpoolctl():
        known = importlib.import_module("threadpoolctl").threadpool_info()
        pools = [pool for pool in known if pool["user_api"] == "blas"]
        return max((int(pool["num_threads"]) for pool in pools), default=1)
    return max((library.get() for library in _libraries()), default=1)


def _has_threadpoolctl() -> bool:
    return importlib.util.find_spec("threadpoolctl") is not None


def _libraries() -> Iterator[_Library]:
    """The OpenBLAS of the wheels of NumPy and, once it is loaded, SciPy."""
    for name in ("numpy", "scipy"):
        package = sys.modules.get(name)
        if package is None or package.__file__ is None:
            continue
        folder = Path(package.__file__).parent
        for place in (folder.parent / f"{name}.libs", folder / ".dylibs"):
            for path in sorted(place.glob("*openblas*")):
                library = _library(path)
                if library is not None:
                    yield library


def _library(path: Path) -> _Library | None:
    try:
        library = ctypes.CDLL(str(path))  # the one that is loaded already
    except OSError:
        return None
    for prefix in _PREFIXES:
        for suffix in _SUFFIXES:
            setter = getattr(library, f"{prefix}_set_num_threads{suffix}", None)
            getter = getattr(library, f"{prefix}_get_num_threads{suffix}", None)
            if setter is not None and getter is not None:
                return _Library(getter, setter)
    return None
