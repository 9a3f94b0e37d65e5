# Made from the records of the operators by `python -m tests.regenerate`: change those, or tests/stubs.py.

from typing import overload

from ts._core.tensor.dtype_kinds import (
    Bool,
    DType,
    Device,
    Float,
    Int,
    Ints,
    Layout,
    Str,
)
from ts._core.tensor.tensor import Tensor

@overload
def fft(
    input: Tensor, n: Int | None = None, dim: Int = -1, norm: Str | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def fft(
    input: Tensor, n: Int | None = None, *, axis: Int = -1, norm: Str | None = None, out: Tensor | None = None
) -> Tensor: ...
@overload
def fft2(
    input: Tensor,
    s: Int | Ints | None = None,
    dim: Int | Ints = ...,
    norm: Str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def fft2(
    input: Tensor,
    s: Int | Ints | None = None,
    *,
    axis: Int | Ints = ...,
    norm: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def fftfreq(
    n: Int,
    d: Float = 1.0,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def fftn(
    input: Tensor,
    s: Int | Ints | None = None,
    dim: Int | Ints | None = None,
    norm: Str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def fftn(
    input: Tensor,
    s: Int | Ints | None = None,
    *,
    axis: Int | Ints | None = None,
    norm: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def fftshift(input: Tensor, dim: Int | Ints | None = None) -> Tensor: ...
@overload
def fftshift(input: Tensor, *dim: Int) -> Tensor: ...
@overload
def fftshift(input: Tensor, *, axis: Int | Ints | None = None) -> Tensor: ...
@overload
def hfft(
    input: Tensor, n: Int | None = None, dim: Int = -1, norm: Str | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def hfft(
    input: Tensor, n: Int | None = None, *, axis: Int = -1, norm: Str | None = None, out: Tensor | None = None
) -> Tensor: ...
@overload
def hfft2(
    input: Tensor,
    s: Int | Ints | None = None,
    dim: Int | Ints = ...,
    norm: Str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def hfft2(
    input: Tensor,
    s: Int | Ints | None = None,
    *,
    axis: Int | Ints = ...,
    norm: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def hfftn(
    input: Tensor,
    s: Int | Ints | None = None,
    dim: Int | Ints | None = None,
    norm: Str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def hfftn(
    input: Tensor,
    s: Int | Ints | None = None,
    *,
    axis: Int | Ints | None = None,
    norm: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def ifft(
    input: Tensor, n: Int | None = None, dim: Int = -1, norm: Str | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def ifft(
    input: Tensor, n: Int | None = None, *, axis: Int = -1, norm: Str | None = None, out: Tensor | None = None
) -> Tensor: ...
@overload
def ifft2(
    input: Tensor,
    s: Int | Ints | None = None,
    dim: Int | Ints = ...,
    norm: Str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def ifft2(
    input: Tensor,
    s: Int | Ints | None = None,
    *,
    axis: Int | Ints = ...,
    norm: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def ifftn(
    input: Tensor,
    s: Int | Ints | None = None,
    dim: Int | Ints | None = None,
    norm: Str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def ifftn(
    input: Tensor,
    s: Int | Ints | None = None,
    *,
    axis: Int | Ints | None = None,
    norm: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def ifftshift(input: Tensor, dim: Int | Ints | None = None) -> Tensor: ...
@overload
def ifftshift(input: Tensor, *dim: Int) -> Tensor: ...
@overload
def ifftshift(input: Tensor, *, axis: Int | Ints | None = None) -> Tensor: ...
@overload
def ihfft(
    input: Tensor, n: Int | None = None, dim: Int = -1, norm: Str | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def ihfft(
    input: Tensor, n: Int | None = None, *, axis: Int = -1, norm: Str | None = None, out: Tensor | None = None
) -> Tensor: ...
@overload
def ihfft2(
    input: Tensor,
    s: Int | Ints | None = None,
    dim: Int | Ints = ...,
    norm: Str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def ihfft2(
    input: Tensor,
    s: Int | Ints | None = None,
    *,
    axis: Int | Ints = ...,
    norm: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def ihfftn(
    input: Tensor,
    s: Int | Ints | None = None,
    dim: Int | Ints | None = None,
    norm: Str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def ihfftn(
    input: Tensor,
    s: Int | Ints | None = None,
    *,
    axis: Int | Ints | None = None,
    norm: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def irfft(
    input: Tensor, n: Int | None = None, dim: Int = -1, norm: Str | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def irfft(
    input: Tensor, n: Int | None = None, *, axis: Int = -1, norm: Str | None = None, out: Tensor | None = None
) -> Tensor: ...
@overload
def irfft2(
    input: Tensor,
    s: Int | Ints | None = None,
    dim: Int | Ints = ...,
    norm: Str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def irfft2(
    input: Tensor,
    s: Int | Ints | None = None,
    *,
    axis: Int | Ints = ...,
    norm: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def irfftn(
    input: Tensor,
    s: Int | Ints | None = None,
    dim: Int | Ints | None = None,
    norm: Str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def irfftn(
    input: Tensor,
    s: Int | Ints | None = None,
    *,
    axis: Int | Ints | None = None,
    norm: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def rfft(
    input: Tensor, n: Int | None = None, dim: Int = -1, norm: Str | None = None, *, out: Tensor | None = None
) -> Tensor: ...
@overload
def rfft(
    input: Tensor, n: Int | None = None, *, axis: Int = -1, norm: Str | None = None, out: Tensor | None = None
) -> Tensor: ...
@overload
def rfft2(
    input: Tensor,
    s: Int | Ints | None = None,
    dim: Int | Ints = ...,
    norm: Str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def rfft2(
    input: Tensor,
    s: Int | Ints | None = None,
    *,
    axis: Int | Ints = ...,
    norm: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
def rfftfreq(
    n: Int,
    d: Float = 1.0,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: Bool | None = None,
    out: Tensor | None = None,
    requires_grad: Bool = False,
) -> Tensor: ...
@overload
def rfftn(
    input: Tensor,
    s: Int | Ints | None = None,
    dim: Int | Ints | None = None,
    norm: Str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def rfftn(
    input: Tensor,
    s: Int | Ints | None = None,
    *,
    axis: Int | Ints | None = None,
    norm: Str | None = None,
    out: Tensor | None = None,
) -> Tensor: ...
