"""Derivatives of convolutions, based on the formula of `aten::convolution`.

The gradients of input and weight are convolutions. Second derivatives are therefore computed by the same
operators.
"""

from __future__ import annotations

import ts
from ts import Tensor
from ts.ops.conv import check_padding_name
from ts.ops.derivatives.formula_registry import compose, derive

_HOW = "stride, padding, dilation, transposed, output_padding, groups"

derive(
    "aten::convolution",
    {
        "input, weight, bias": "ts.convolution_backward("
        f"grad, input.conj(), weight.conj(), None, {_HOW}, output_mask)"
    },
    result=f"ts.convolution(input_t, weight, bias_t, {_HOW}) + ts.convolution(input, weight_t, None, {_HOW})",
)


def _convolved(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> Tensor:
    """Compute a convolution of one image or a batch of images.

    A complex convolution of a + bi with c + di is computed from three real convolutions: of a with c, of b
    with d, and of a + b with c + d.
    """
    is_unbatched = input.dim() == weight.dim() - 1
    input = input.unsqueeze(0) if is_unbatched else input
    if not input.is_complex():
        result = ts.convolution(
            input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
        )
        return result.squeeze(0) if is_unbatched else result
    a, b, c, d = ts.real(input), ts.imag(input), ts.real(weight), ts.imag(weight)
    ac = ts.convolution(a, c, None, stride, padding, dilation, transposed, output_padding, groups)
    bd = ts.convolution(b, d, None, stride, padding, dilation, transposed, output_padding, groups)
    summed = ts.convolution(a + b, c + d, None, stride, padding, dilation, transposed, output_padding, groups)
    result = ts.complex(ac - bd, summed - ac - bd)
    result = result if bias is None else result + bias.view([-1] + [1] * (weight.dim() - 2))
    return result.squeeze(0) if is_unbatched else result


compose(
    "aten::_convolution aten::_convolution.deprecated aten::convolution_overrideable",
    f"_convolved(input, weight, bias, {_HOW})",
)
compose(
    "aten::conv1d aten::conv2d aten::conv3d",
    "_convolved(input, weight, bias, stride, padding, dilation, False, [0] * (weight.dim() - 2), groups)",
)
compose(
    "aten::conv_transpose1d aten::conv_transpose2d.input aten::conv_transpose3d.input",
    "_convolved(input, weight, bias, stride, padding, dilation, True, output_padding, groups)",
)
compose(
    "aten::conv1d.padding aten::conv2d.padding aten::conv3d.padding aten::_convolution_mode",
    "_padded_by_name(input, weight, bias, stride, padding, dilation, groups)",
)
compose(
    "aten::_conv_depthwise2d aten::conv_depthwise3d",
    "_convolved(self, weight, bias, stride, padding, dilation, False, [0], self.size(1 - weight.dim()))",
)
compose(
    "aten::conv_tbc",
    "_convolved(self.permute(1, 2, 0), weight.permute(2, 1, 0), bias, [1], [pad], [1], False, [0], 1)"
    ".permute(2, 0, 1)",
)


def _padded_by_name(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: list[int],
    padding: str,
    dilation: list[int],
    groups: int,
) -> Tensor:
    """Compute a convolution with padding "same" or "valid".

    With "same", a dimension that needs an odd number of zeros gets one more zero at its end than at its
    start.
    """
    check_padding_name(padding, stride)
    before_padding: list[int] = []
    after: list[int] = []
    odd = 0
    for d in range(weight.dim() - 2):
        apart = dilation[d] if len(dilation) > 1 else dilation[0]
        total = apart * (weight.size(d + 2) - 1) if padding == "same" else 0
        before_padding.append(total // 2)
        after = [0, total % 2] + after
        odd += total % 2
    if odd > 0:
        input = ts.constant_pad_nd(input, after)
    none = [0] * (weight.dim() - 2)
    return _convolved(input, weight, bias, stride, before_padding, dilation, False, none, groups)


# ----------------------------------------------------------------------------------- second derivative


def _of_gradient(
    of_input: Tensor | None,
    of_weight: Tensor | None,
    of_bias: Tensor | None,
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> Tensor:
    result = ts.zeros_like(grad_output)
    if of_input is not None:
        result = ts.convolution(
            of_input, weight, of_bias, stride, padding, dilation, transposed, output_padding, groups
        )
    elif of_bias is not None:
        result = result + of_bias.view([-1] + [1] * (weight.dim() - 2))
    if of_weight is not None:
        result = result + ts.convolution(
            input, of_weight, None, stride, padding, dilation, transposed, output_padding, groups
        )
    return result


derive(
    "aten::convolution_backward",
    grad_output=f"_of_gradient(grad0, grad1, grad2, grad_output, input.conj(), weight.conj(), {_HOW})",
    input="ts.zeros_like(input) if grad1 is None else ts.convolution_backward("
    f"grad_output, input, grad1, None, {_HOW}, [True, False, False])[0]",
    weight="ts.zeros_like(weight) if grad0 is None else ts.convolution_backward("
    f"grad_output, grad0, weight, None, {_HOW}, [False, True, False])[1]",
    absent=True,
)
