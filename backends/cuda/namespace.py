"""Array namespace `xp` of CUDA: CuPy's functions, corrected where kernels rely on NumPy's behaviour.

Input: the name of a NumPy function. Output: CuPy's function or a corrected function. Examples with their
differences from CuPy:

    xp.add                none
    xp.linalg.inv         a singular matrix raises LinAlgError instead of returning NaN
    xp.where(m, x, 0)     keeps the dtype of bfloat16 arrays, which CuPy promotes to float32
    xp.nanquantile        runs on the CPU and warns once, because CuPy lacks it (`cpu_fallback.FUNCTIONS`)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import cupy
import cupyx
import numpy as np

from ts import dtypes

from ..array_namespace import Namespace
from . import cpu_fallback, cuda_graphs, gemm, index_checks

BFLOAT16: np.dtype[Any] = dtypes.bfloat16.numpy_dtype


class CheckedLinalg:
    """A CuPy module whose functions raise LinAlgError if cuSOLVER fails."""

    def __init__(self, module: str) -> None:
        self.__name__ = module

    def __getattr__(self, name: str) -> Any:
        function = getattr(importlib.import_module(self.__name__), name, None)
        if function is None:
            function = cpu_fallback.numpy_function(f"{self.__name__.removeprefix('cupy.')}.{name}")
        elif callable(function) and not isinstance(function, type):
            function = _raise_on_failure(function)
        setattr(self, name, function)
        return function


def _raise_on_failure(function: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*args: Any, **kwargs: Any) -> Any:
        with cupyx.errstate(linalg="raise"):
            return function(*args, **kwargs)

    checked.__name__ = function.__name__
    return checked


class CudaNamespace(Namespace):
    """The array namespace that kernels receive. Resolved names are stored as attributes."""

    __name__ = "cupy"
    scipy_package = "cupyx.scipy"
    streams = "cuda"
    has_svd_drivers = True
    has_low_precision_products = True
    check_indices = staticmethod(index_checks.check)

    def __init__(self) -> None:
        self.linalg = CheckedLinalg("cupy.linalg")

    def __getattr__(self, name: str) -> Any:
        function = OVERRIDES.get(name)
        if function is None:
            function = getattr(cupy, name, None)
        if function is None:
            function = cpu_fallback.numpy_function(name)
        setattr(self, name, function)
        return function

    def wide_products(self, a: Any, b: Any) -> Any:
        """Return the product of stacks of matrices. The product of 16-bit floats has float32."""
        return gemm.matmul(a, b, np.dtype(np.float32)) if gemm.is_supported(a, b) else cupy.matmul(a, b)

    def to_host(self, x: Any) -> Any:
        """Return the elements as a NumPy array."""
        if not isinstance(x, cupy.ndarray):
            return np.asarray(x)
        cuda_graphs.check_not_capturing()
        return cupy.asnumpy(x)


# ---------------------------------------------------------------------------------------- corrections


def _is_bfloat16(x: Any) -> bool:
    return getattr(x, "dtype", None) == BFLOAT16


def _compute_in_float32(name: str) -> Callable[..., Any]:
    """Return CuPy's function `name`, extended to bfloat16: it computes bfloat16 arrays in float32."""
    function = getattr(cupy, name)

    def compute(*args: Any, **kwargs: Any) -> Any:
        floats = [x.dtype for x in _arrays(args) if x.dtype.kind in "fc" or x.dtype == BFLOAT16]
        if BFLOAT16 not in floats:
            return function(*args, **kwargs)
        result = function(*map(_upcast, args), **kwargs)
        if any(d != BFLOAT16 for d in floats) or "dtype" in kwargs:
            return result
        return tuple(map(_downcast, result)) if isinstance(result, tuple) else _downcast(result)

    compute.__name__ = name
    return compute


def _arrays(xs: Any) -> Iterator[Any]:
    for x in xs:
        if isinstance(x, cupy.ndarray):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from _arrays(x)


def _upcast(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(map(_upcast, x))
    return x.astype(np.float32) if _is_bfloat16(x) else x


def _downcast(x: Any) -> Any:
    return x.astype(BFLOAT16) if getattr(x, "dtype", None) == np.float32 else x


def _matmul(a: Any, b: Any, **kwargs: Any) -> Any:
    """Return the matrix product. Arrays of one 16-bit dtype are not converted to float32."""
    return gemm.matmul(a, b) if gemm.is_supported(a, b) and not kwargs else _wide_matmul(a, b, **kwargs)


def _logical_not(x: Any) -> Any:
    """Return logical_not for arrays of all dtypes.

    CuPy's function supports only bools, integers and NumPy's floats.
    """
    return cupy.equal(x, 0)


class ScatterUfunc:
    """CuPy ufunc with `accumulate`, `reduceat`, and a method `at` that supports all dtypes.

    CuPy's own `at` uses atomic instructions of the device, which exist only for elements of 32 and 64 bits.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._ufunc = getattr(cupy, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call CuPy's ufunc with unchanged arguments."""
        return self._ufunc(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ufunc, name)

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        """Perform `a[indices] op= b`, with repeated indices accumulated."""
        if self.__name__ == "multiply":
            cpu_fallback.numpy_function("multiply.at")(a, indices, b)
            return
        if a.dtype.kind == "c":
            real_and_imaginary = (b.real, b.imag) if isinstance(b, (cupy.ndarray, complex)) else (b, 0)
            self.at(a.real, indices, real_and_imaginary[0])
            self.at(a.imag, indices, real_and_imaginary[1])
            return
        wide_dtype = np.dtype(np.float32 if a.dtype == BFLOAT16 or a.dtype.kind == "f" else np.int32)
        wide = a.astype(wide_dtype) if a.dtype.itemsize < wide_dtype.itemsize else a
        terms = b.astype(wide.dtype) if isinstance(b, cupy.ndarray) else wide.dtype.type(b)
        self._ufunc.at(wide, indices, terms)
        if wide is not a:
            a[...] = wide.astype(a.dtype)

    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None) -> Any:
        """Return the cumulative results of the ufunc along an axis."""
        return cpu_fallback.numpy_function(f"{self.__name__}.accumulate")(a, axis=axis, dtype=dtype)

    def reduceat(self, a: Any, indices: Any, axis: int = 0) -> Any:
        """Return the reductions of the segments of an axis that start at `indices`."""
        if self.__name__ != "add":
            return cpu_fallback.numpy_function(f"{self.__name__}.reduceat")(a, indices, axis=axis)
        sums = self._ufunc.reduceat(_upcast(a), indices, axis=axis)
        return sums.astype(a.dtype) if _is_bfloat16(a) else sums


def _asarray(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Convert `a` to a device array.

    During graph capture, the graph owns the device copy of a value in host memory.
    """
    constant = cuda_graphs.capture_constant(a, dtype)
    return cupy.asarray(a, dtype, **kwargs) if constant is None else constant


def _array(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    constant = cuda_graphs.capture_constant(a, dtype)
    return cupy.array(a, dtype, **kwargs) if constant is None else constant


def _sorted_order(x: Any, axis: Any = -1, kind: Any = None, **unused: Any) -> Any:
    """Return argsort along an axis, also for bfloat16. `kind` is ignored, because CuPy's sort is stable."""
    return cupy.argsort(x.astype(np.float32) if _is_bfloat16(x) else x, axis=axis)


def _sorted(x: Any, axis: Any = -1, kind: Any = None, **unused: Any) -> Any:
    """Return a sorted copy, also for bfloat16. `kind` is ignored, because CuPy's sort is stable."""
    if _is_bfloat16(x):
        return cupy.sort(x.astype(np.float32), axis=axis).astype(BFLOAT16)
    return cupy.sort(x, axis=axis)


_wide_matmul = _compute_in_float32("matmul")
OVERRIDES: dict[str, Any] = {
    **{name: _compute_in_float32(name) for name in (
        "where", "dot", "tensordot", "inner", "cumsum", "cumprod", "searchsorted", "einsum",
        "clip", "unique",
        "histogram", "isin", "kron",
    )},
    **{name: ScatterUfunc(name) for name in ("add", "multiply", "maximum", "minimum", "logaddexp")},
    "matmul": _matmul,
    "array": _array,
    "asarray": _asarray,
    "argsort": _sorted_order,
    "sort": _sorted,
    "logical_not": _logical_not,
}  # fmt: skip
