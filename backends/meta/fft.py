"""`xp.fft` on the meta device: shapes and dtypes of discrete Fourier transforms.

Input: an array, lengths and dimensions, as in scipy.fft. Output: a meta array with the shape of the result.
Examples for real x of shape (3, 8) and complex y of shape (3, 5):

    fft(x, n=5)      (3, 5) complex
    rfft(x)          (3, 5) complex
    irfft(y)         (3, 8) real
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import MetaArray

_SINGLE = ("f", "F", "e")  # characters of the dtypes that are transformed in single precision


def _complex(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.complex64 if dtype.char in _SINGLE else np.complex128)


def _real(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float32 if dtype.char in _SINGLE else np.float64)


def _transformed(name: str, x: MetaArray, lengths: Any, axes: Any) -> MetaArray:
    """Return a meta array with the shape and dtype of the result of the transform `name` of `x`."""
    shape = list(x.shape)
    axes_of_lengths = list(range(x.ndim)) if axes is None else [a % x.ndim for a in axes]
    if lengths is not None:
        if axes is None:
            axes_of_lengths = axes_of_lengths[len(axes_of_lengths) - len(lengths) :]
        for axis, n in zip(axes_of_lengths, lengths, strict=True):
            shape[axis] = n
    last = axes_of_lengths[-1]
    if name.startswith(("rfft", "ihfft")):
        shape[last] = shape[last] // 2 + 1
    elif name.startswith(("irfft", "hfft")):
        if lengths is None:
            shape[last] = 2 * (shape[last] - 1)
        return MetaArray(shape, _real(x.dtype))
    return MetaArray(shape, _complex(x.dtype))


def _one(name: str) -> Any:
    def transform(x: MetaArray, n: Any = None, axis: int = -1, norm: Any = None) -> MetaArray:
        return _transformed(name, x, None if n is None else (n,), (axis,))

    return transform


def _many(name: str) -> Any:
    def transform(x: MetaArray, s: Any = None, axes: Any = None, norm: Any = None) -> MetaArray:
        return _transformed(name, x, s, axes)

    return transform


class Fft:
    """Functions of scipy.fft that kernels use, for meta arrays."""

    def __init__(self) -> None:
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
            setattr(self, name, _one(name))
            setattr(self, f"{name}n", _many(name))

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(f"fft.{name} has no shape rule on the meta device")

    def fftshift(self, x: MetaArray, axes: Any = None) -> MetaArray:
        return MetaArray(x.shape, x.dtype)

    ifftshift = fftshift
