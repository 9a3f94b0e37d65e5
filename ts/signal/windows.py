"""Window functions (Hann, Hamming, Blackman, Kaiser, general cosine ...) for spectral analysis.

Input: the length M and the parameters of the window. Output: a tensor of dtype `dtype`, or of the default
dtype if None. `hann(5, sym=False)` is periodic, for spectra. `hann(5)` is symmetric:

    >>> ts.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ts import dtypes

Numbers = NDArray[np.float64]


def _window(values: Callable[..., Numbers]) -> Callable[..., Any]:
    """Convert `values(k, last, **parameters)` to a public window function.

    k are the indices from 0 to `last`.
    """

    @functools.wraps(values)
    def window(
        M: int,
        *,
        sym: bool = True,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        **parameters: Any,
    ) -> Any:
        from ts._core.tensor.factories import tensor

        name = values.__name__
        if M < 0:
            raise ValueError(f"{name} requires non-negative window length, got M={M}")
        if layout is not None and layout is not dtypes.strided:
            raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
        target_dtype = dtypes.get_default_dtype() if dtype is None else dtype
        if target_dtype not in (dtypes.float32, dtypes.float64):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {target_dtype}")
        if sym and parameters.get("center") is not None:
            raise ValueError("Center must be None for symmetric windows")
        last = max(M - 1 if sym else M, 1)
        samples = values(np.arange(M, dtype=np.float64), last, **parameters)
        samples = np.ones(1) if M == 1 else samples
        return tensor(samples, dtype=target_dtype, device=device, requires_grad=requires_grad)

    return window


def _cosines(k: Numbers, last: int, a: Iterable[float]) -> Numbers:
    angle = 2 * math.pi * k / last
    terms = [(-1) ** i * c * np.cos(i * angle) for i, c in enumerate(a)]
    return np.asarray(sum(terms), dtype=np.float64)


@_window
def general_cosine(k: Numbers, last: int, *, a: Iterable[float]) -> Numbers:
    """Return the window a[0] - a[1] cos(x) + a[2] cos(2x) - ..., where x is 2 pi k / last."""
    coefficients = list(a)
    if not coefficients:
        raise ValueError("Coefficients cannot be empty")
    return _cosines(k, last, coefficients)


@_window
def general_hamming(k: Numbers, last: int, *, alpha: float = 0.54) -> Numbers:
    """Return the window alpha - (1 - alpha) cos(2 pi k / last)."""
    return _cosines(k, last, (alpha, 1.0 - alpha))


@_window
def hamming(k: Numbers, last: int) -> Numbers:
    """Return the Hamming window."""
    return _cosines(k, last, (0.54, 0.46))


@_window
def hann(k: Numbers, last: int) -> Numbers:
    """Return the Hann window."""
    return _cosines(k, last, (0.5, 0.5))


@_window
def blackman(k: Numbers, last: int) -> Numbers:
    """Return the Blackman window."""
    return _cosines(k, last, (0.42, 0.5, 0.08))


@_window
def nuttall(k: Numbers, last: int) -> Numbers:
    """Return the four-term Nuttall window."""
    return _cosines(k, last, (0.3635819, 0.4891775, 0.1365995, 0.0106411))


@_window
def bartlett(k: Numbers, last: int) -> Numbers:
    """Return the triangular Bartlett window."""
    return 1 - np.abs(2 * k / last - 1)


@_window
def cosine(k: Numbers, last: int) -> Numbers:
    """Return half a period of a sine as a window."""
    return np.sin(math.pi * (k + 0.5) / (last + 1))


@_window
def exponential(k: Numbers, last: int, *, center: float | None = None, tau: float = 1.0) -> Numbers:
    """Return the window exp(-|k - center| / tau)."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    return np.exp(-np.abs(k - (last / 2 if center is None else center)) / tau)


@_window
def gaussian(k: Numbers, last: int, *, std: float = 1.0) -> Numbers:
    """Return the Gaussian window with standard deviation `std`."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return np.exp(-(((k - last / 2) / std) ** 2) / 2)


@_window
def kaiser(k: Numbers, last: int, *, beta: float = 12.0) -> Numbers:
    """Return the Kaiser window with shape parameter `beta`."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    radicand = 1 - (2 * k / last - 1) ** 2
    return np.i0(beta * np.sqrt(np.maximum(radicand, 0))) / np.i0(beta)
