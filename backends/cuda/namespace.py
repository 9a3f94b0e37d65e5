"""`xp` on CUDA: the functions of CuPy, corrected where kernels rely on what NumPy does.

In: a name of NumPy's; out: CuPy's function of that name, or the one below.

    xp.add                CuPy's
    xp.linalg.inv         CuPy's, but a matrix that has none is an error and not NaN
    xp.where(m, x, 0)     keeps the dtype of bfloat16 arrays, which CuPy's lifts to float32
    xp.nanquantile        of NumPy only: runs on the host, with one warning (`host.FUNCTIONS`)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import cupy
import cupyx
import numpy as np

from ts import dtypes

from . import host

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


class Namespace:
    """The array namespace that kernels get; what was asked for once is an attribute afterwards."""

    __name__ = "cupy"

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


# ---------------------------------------------------------------------------------------- corrections


def _is_bfloat16(x: Any) -> bool:
    return getattr(x, "dtype", None) == BFLOAT16


def _through_float(name: str) -> Callable[..., Any]:
    """CuPy's function for arrays of bfloat16 too, by way of float32."""
    function = getattr(cupy, name)

    def called(x: Any, *args: Any, **kwargs: Any) -> Any:
        if not (_is_bfloat16(x) or any(map(_is_bfloat16, args))):
            return function(x, *args, **kwargs)
        wide = [a.astype(np.float32) if _is_bfloat16(a) else a for a in (x, *args)]
        result = function(*wide, **kwargs)
        narrow = [
            r.astype(BFLOAT16) if getattr(r, "dtype", None) == np.float32 else r
            for r in (result if isinstance(result, tuple) else (result,))
        ]
        return tuple(narrow) if isinstance(result, tuple) else narrow[0]

    called.__name__ = name
    return called


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
        "where", "matmul", "dot", "tensordot", "inner", "cumsum", "cumprod", "searchsorted", "einsum", "clip",
    )},
    "argsort": _sorted_order,
    "sort": _sorted,
    "float64": np.float64,
}  # fmt: skip
