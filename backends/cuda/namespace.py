"""`xp` on CUDA: the functions of CuPy, corrected where kernels rely on what NumPy does.

In: a name of NumPy's; out: CuPy's function of that name, or the one below.

    xp.add                CuPy's
    xp.linalg.inv         CuPy's, but a matrix that has none is an error and not NaN
    xp.where(m, x, 0)     keeps the dtype of bfloat16 arrays, which CuPy's lifts to float32
    xp.nanquantile        of NumPy only: runs on the host, with one warning (`host.FUNCTIONS`)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import cupy
import cupyx
import numpy as np

from ts import dtypes

from ..namespace import Namespace
from . import graphs, host

BFLOAT16: np.dtype[Any] = dtypes.bfloat16.numpy_dtype


class Raising:
    """The functions of a module of CuPy's that calls cuSOLVER, whose failures raise LinAlgError."""

    def __init__(self, module: str) -> None:
        self.__name__ = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(importlib.import_module(self.__name__), name, None)
        if found is None:
            found = host.function(f"{self.__name__.removeprefix('cupy.')}.{name}")
        elif callable(found) and not isinstance(found, type):
            found = _raising(found)
        setattr(self, name, found)
        return found


def _raising(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        with cupyx.errstate(linalg="raise"):
            return function(*args, **kwargs)

    called.__name__ = function.__name__
    return called


class CudaNamespace(Namespace):
    """The array namespace that kernels get; what was asked for once is an attribute afterwards."""

    __name__ = "cupy"
    scipy_package = "cupyx.scipy"
    streams = "cuda"

    def __init__(self) -> None:
        self.linalg = Raising("cupy.linalg")

    def __getattr__(self, name: str) -> Any:
        found = OWN.get(name)
        if found is None:
            found = getattr(cupy, name, None)
        if found is None:
            found = host.function(name)
        setattr(self, name, found)
        return found

    def to_host(self, x: Any) -> Any:
        """The elements as a NumPy array."""
        if not isinstance(x, cupy.ndarray):
            return np.asarray(x)
        graphs.refuse_waiting()
        return cupy.asnumpy(x)


# ---------------------------------------------------------------------------------------- corrections


def _is_bfloat16(x: Any) -> bool:
    return getattr(x, "dtype", None) == BFLOAT16


def _through_float(name: str) -> Callable[..., Any]:
    """CuPy's function for arrays of bfloat16 too, by way of float32."""
    function = getattr(cupy, name)

    def called(*args: Any, **kwargs: Any) -> Any:
        floats = [x.dtype for x in _arrays(args) if x.dtype.kind in "fc" or x.dtype == BFLOAT16]
        if BFLOAT16 not in floats:
            return function(*args, **kwargs)
        result = function(*map(_widened, args), **kwargs)
        if any(d != BFLOAT16 for d in floats) or "dtype" in kwargs:
            return result
        return tuple(map(_narrowed, result)) if isinstance(result, tuple) else _narrowed(result)

    called.__name__ = name
    return called


def _arrays(xs: Any) -> Iterator[Any]:
    for x in xs:
        if isinstance(x, cupy.ndarray):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from _arrays(x)


def _widened(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(map(_widened, x))
    return x.astype(np.float32) if _is_bfloat16(x) else x


def _narrowed(x: Any) -> Any:
    return x.astype(BFLOAT16) if getattr(x, "dtype", None) == np.float32 else x


def _logical_not(x: Any) -> Any:
    """logical_not; CuPy's is of bools, integers and the floats that NumPy has."""
    return cupy.equal(x, 0)


class Scattering:
    """A ufunc of CuPy's whose `at` knows all dtypes, and which accumulates.

    CuPy scatters by atomic instructions of the device, which there are for 32 and 64 bits.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._ufunc = getattr(cupy, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._ufunc(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ufunc, name)

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        """a[indices] op= b, also where an index is there more than once."""
        if self.__name__ == "multiply":
            host.function("multiply.at")(a, indices, b)
            return
        if a.dtype.kind == "c":
            parts = (b.real, b.imag) if isinstance(b, (cupy.ndarray, complex)) else (b, 0)
            self.at(a.real, indices, parts[0])
            self.at(a.imag, indices, parts[1])
            return
        small = np.dtype(np.float32 if a.dtype == BFLOAT16 or a.dtype.kind == "f" else np.int32)
        wide = a.astype(small) if a.dtype.itemsize < small.itemsize else a
        terms = b.astype(wide.dtype) if isinstance(b, cupy.ndarray) else wide.dtype.type(b)
        self._ufunc.at(wide, indices, terms)
        if wide is not a:
            a[...] = wide.astype(a.dtype)

    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None) -> Any:
        """The results so far along an axis."""
        return host.function(f"{self.__name__}.accumulate")(a, axis=axis, dtype=dtype)

    def reduceat(self, a: Any, indices: Any, axis: int = 0) -> Any:
        """The results of the parts of an axis that begin at `indices`."""
        if self.__name__ != "add":
            return host.function(f"{self.__name__}.reduceat")(a, indices, axis=axis)
        made = self._ufunc.reduceat(_widened(a), indices, axis=axis)
        return made.astype(a.dtype) if _is_bfloat16(a) else made


def _asarray(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """asarray; while a graph is made, what comes from the host belongs to the graph."""
    kept = graphs.brought(a, dtype)
    return cupy.asarray(a, dtype, **kwargs) if kept is None else kept


def _array(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    kept = graphs.brought(a, dtype)
    return cupy.array(a, dtype, **kwargs) if kept is None else kept


def _sorted_order(x: Any, axis: Any = -1, kind: Any = None, **unused: Any) -> Any:
    """argsort; CuPy's is always stable, and knows no bfloat16."""
    return cupy.argsort(x.astype(np.float32) if _is_bfloat16(x) else x, axis=axis)


def _sorted(x: Any, axis: Any = -1, kind: Any = None, **unused: Any) -> Any:
    """sort; CuPy's is always stable, and knows no bfloat16."""
    if _is_bfloat16(x):
        return cupy.sort(x.astype(np.float32), axis=axis).astype(BFLOAT16)
    return cupy.sort(x, axis=axis)


OWN: dict[str, Any] = {
    **{name: _through_float(name) for name in (
        "where", "matmul", "dot", "tensordot", "inner", "cumsum", "cumprod", "searchsorted", "einsum",
        "clip", "unique",
        "histogram", "isin", "kron",
    )},
    **{name: Scattering(name) for name in ("add", "multiply", "maximum", "minimum", "logaddexp")},
    "array": _array,
    "asarray": _asarray,
    "argsort": _sorted_order,
    "sort": _sorted,
    "logical_not": _logical_not,
}  # fmt: skip
