"""Trace functions of convolutions, which record the operators that PyTorch's traces contain.

The call on the left is recorded as the operator on the right:

    conv2d(x, w)                  =>  aten::_convolution(x, w, None, [1, 1], [0, 0], [1, 1], False, ...)
    conv2d(x, w, padding="same")  =>  aten::_convolution_mode(x, w, None, [1, 1], "same", [1, 1], 1)

The last four arguments of `aten::_convolution` are flags of cuDNN and have PyTorch's defaults. If an input
has no batch dimension, `aten::unsqueeze` and `aten::squeeze` are recorded, too.
"""

from __future__ import annotations

from typing import Any, Final

from ts._core.dispatch.overloads import overloads
from ts._core.tensor.tensor import Tensor
from ts.ops.unfold import per_dim

_CUDNN_FLAGS: Final = (False, False, True, True)  # benchmark, deterministic, cudnn_enabled, allow_tf32


def record_convolution(
    name: str,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
) -> Any:
    """Record `conv1d`, `conv2d` or `conv3d`. Return NotImplemented for arguments of a wrong rank."""
    n = int(name[-2])
    if not _is_valid(n, input, weight):
        return NotImplemented
    x = input.unsqueeze(0) if input.dim() == n + 1 else input
    stride, dilation = _per_dimension(n, stride), _per_dimension(n, dilation)
    if isinstance(padding, str):
        y = overloads("_convolution_mode")(x, weight, bias, stride, padding, dilation, groups)
    else:
        padding = _per_dimension(n, padding)
        y = _convolution(x, weight, bias, stride, padding, dilation, False, [0] * n, groups)
    return y.squeeze(0) if x is not input else y


def record_transposed_convolution(
    name: str,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: Any,
    dilation: Any,
) -> Any:
    """Record a transposed convolution. Return NotImplemented for arguments of a wrong rank."""
    n = int(name[-2])
    if not _is_valid(n, input, weight):
        return NotImplemented
    x = input.unsqueeze(0) if input.dim() == n + 1 else input
    sizes = [_per_dimension(n, value) for value in (stride, padding, dilation, output_padding)]
    y = _convolution(x, weight, bias, *sizes[:3], True, sizes[3], groups)
    return y.squeeze(0) if x is not input else y


def record_general_convolution(name: str, *args: Any) -> Any:
    """Record `aten::convolution` as `aten::_convolution`."""
    return _convolution(*args)


def _convolution(*args: Any) -> Tensor:
    return overloads("_convolution")(*args, *_CUDNN_FLAGS)  # type: ignore[no-any-return]


def _is_valid(n: int, input: Tensor, weight: Tensor) -> bool:
    return input.dim() in (n + 1, n + 2) and weight.dim() == n + 2


def _per_dimension(n: int, value: Any) -> Any:
    """Return `value` as `n` numbers, one per spatial dimension. A single number is repeated."""
    return per_dim(value if isinstance(value, list | tuple) else [value], n)
