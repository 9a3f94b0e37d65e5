"""Derivatives of Fourier transforms, by transforms in the opposite direction.

A transform and its derivative have the same scale factor.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.derivatives.formula_registry import LINEAR, compose, derive


def _opposite_norm(norm: str | None) -> str:
    """Return the mode in which the FFT in the opposite direction has the scale factor of mode `norm`."""
    if norm is None or norm == "backward":
        return "forward"
    return "backward" if norm == "forward" else norm


def _fitted(x: Tensor, n: int, dim: int) -> Tensor:
    """Truncate or zero-pad dimension `dim` to length n."""
    have = x.size(dim)
    if have > n:
        return x.narrow(dim, 0, n)
    if have == n:
        return x
    sizes = x.size()
    sizes[dim] = n - have
    return ts.cat([x, x.new_zeros(sizes)], dim)


def _returned(x: Tensor, sizes: list[int], dim: int, is_complex: bool) -> Tensor:
    x = _fitted(x, sizes[dim], dim)
    return x if is_complex or not x.is_complex() else ts.real(x)


def _of_half(grad: Tensor, sizes: list[int], n: int | None, dim: int, norm: str | None) -> Tensor:
    """Return the gradient of a one-sided FFT of real numbers along one dimension."""
    count = sizes[dim] if n is None or n == -1 else n
    return _returned(
        ts.fft.ifft(_fitted(grad, count, dim), None, dim, _opposite_norm(norm)), sizes, dim, False
    )


def _of_real(grad: Tensor, sizes: list[int], dim: int, norm: str | None, is_complex: bool) -> Tensor:
    """Return the gradient of an inverse FFT with a real result along `dim`.

    The input contains only half of a spectrum, because the other half consists of complex conjugates.
    Therefore, gradients are doubled, except those of the first frequency and the Nyquist frequency.
    """
    spectrum = ts.fft.rfft(grad, None, dim, _opposite_norm(norm))
    twice = grad.size(dim) - spectrum.size(dim)
    middle = spectrum.narrow(dim, 1, twice) * 2
    rest = spectrum.narrow(dim, 1 + twice, spectrum.size(dim) - 1 - twice)
    return _returned(ts.cat([spectrum.narrow(dim, 0, 1), middle, rest], dim), sizes, dim, is_complex)


derive(
    "aten::fft_fft",
    self="_returned(ts.fft.ifft(grad, None, dim, _opposite_norm(norm)), self.size(), dim, self.is_complex())",
    result=LINEAR,
)
derive(
    "aten::fft_ifft",
    self="_returned(ts.fft.fft(grad, None, dim, _opposite_norm(norm)), self.size(), dim, self.is_complex())",
    result=LINEAR,
)
derive("aten::fft_rfft", self="_of_half(grad, self.size(), n, dim, norm)", result=LINEAR)
derive("aten::fft_irfft", self="_of_real(grad, self.size(), dim, norm, self.is_complex())", result=LINEAR)
compose("aten::fft_hfft", "ts.fft.irfft(self.conj(), n, dim, _opposite_norm(norm))")
compose("aten::fft_ihfft", "ts.fft.rfft(self, n, dim, _opposite_norm(norm)).conj()")
derive("aten::fft_fftshift", self="ts.fft.ifftshift(grad, dim)", result=LINEAR)
derive("aten::fft_ifftshift", self="ts.fft.fftshift(grad, dim)", result=LINEAR)


# ------------------------------------------------------------------------- transforms over several dimensions


def _dims(rank: int, s: list[int] | None, dim: list[int] | None) -> list[int]:
    if dim is not None:
        return dim
    count = rank if s is None else len(s)
    return [d - count for d in range(count)]


def _length(s: list[int] | None, i: int) -> int | None:
    return None if s is None or s[i] == -1 else s[i]


def _all(
    x: Tensor, s: list[int] | None, dims: list[int], norm: str | None, forward: bool, count: int
) -> Tensor:
    """Apply the complex FFT, or its inverse, along the first `count` dimensions of `dims`."""
    for i in range(count):
        n = _length(s, i)
        x = ts.fft.fft(x, n, dims[i], norm) if forward else ts.fft.ifft(x, n, dims[i], norm)
    return x


def _complex(
    self: Tensor, s: list[int] | None, dim: list[int] | None, norm: str | None, forward: bool
) -> Tensor:
    dims = _dims(self.dim(), s, dim)
    return _all(self, s, dims, norm, forward, len(dims))


def _to_half(self: Tensor, s: list[int] | None, dim: list[int] | None, norm: str | None) -> Tensor:
    dims = _dims(self.dim(), s, dim)
    last = len(dims) - 1
    return _all(ts.fft.rfft(self, _length(s, last), dims[last], norm), s, dims, norm, True, last)


def _from_half(self: Tensor, s: list[int] | None, dim: list[int] | None, norm: str | None) -> Tensor:
    dims = _dims(self.dim(), s, dim)
    last = len(dims) - 1
    return ts.fft.irfft(_all(self, s, dims, norm, False, last), _length(s, last), dims[last], norm)


compose("aten::fft_fftn aten::fft_fft2", "_complex(self, s, dim, norm, True)")
compose("aten::fft_ifftn aten::fft_ifft2", "_complex(self, s, dim, norm, False)")
compose("aten::fft_rfftn aten::fft_rfft2", "_to_half(self, s, dim, norm)")
compose("aten::fft_irfftn aten::fft_irfft2", "_from_half(self, s, dim, norm)")
compose("aten::fft_hfftn aten::fft_hfft2", "_from_half(self.conj(), s, dim, _opposite_norm(norm))")
compose("aten::fft_ihfftn aten::fft_ihfft2", "_to_half(self, s, dim, _opposite_norm(norm)).conj()")


# ------------------------------------------------------------------------------------- internal FFT operators


def _r2c_backward(
    grad: Tensor, sizes: list[int], dim: list[int], normalization: int, onesided: bool
) -> Tensor:
    """Return the gradient of an FFT of real numbers over several dimensions.

    If the FFT is `onesided`, `grad` has only half of the last dimension, and is first padded with zeros.
    """
    if onesided:
        grad = _fitted(grad, sizes[dim[-1]], dim[-1])
    return ts.real(ts._fft_c2c(grad, dim, normalization, False))


def _c2r_backward(grad: Tensor, sizes: list[int], dim: list[int], normalization: int) -> Tensor:
    """Return the gradient of a one-sided inverse FFT.

    In the last dimension, the gradients of all frequencies except the first one and the Nyquist frequency are
    doubled.
    """
    spectrum = ts._fft_r2c(grad, dim, normalization, True)
    last = dim[-1]
    twice = grad.size(last) - spectrum.size(last)
    middle = spectrum.narrow(last, 1, twice) * 2
    rest = spectrum.narrow(last, 1 + twice, spectrum.size(last) - 1 - twice)
    return _fitted(ts.cat([spectrum.narrow(last, 0, 1), middle, rest], last), sizes[last], last)


derive(
    "aten::_fft_c2c", self="ts._fft_c2c(grad, dim, normalization, not forward)", result=LINEAR,
    name="FftC2CBackward0",
)  # fmt: skip
derive(
    "aten::_fft_r2c", self="_r2c_backward(grad, self.size(), dim, normalization, onesided)", result=LINEAR,
    name="FftR2CBackward0",
)  # fmt: skip
derive(
    "aten::_fft_c2r", self="_c2r_backward(grad, self.size(), dim, normalization)", result=LINEAR,
    name="FftC2RBackward0",
)  # fmt: skip
