"""Checks of dtypes for convolutions, with PyTorch's messages.

Input: the input, weight and bias of a convolution. Output: none, or a RuntimeError. PyTorch computes
float32 convolutions by oneDNN (formerly MKLDNN) or by its own kernels, depending on the sizes. The messages
of both differ:

    oneDNN        Input type (torch.FloatTensor) and weight type (torch.DoubleTensor) should be the same or
                  input should be a MKLDNN tensor and weight is a dense tensor
    own kernels   expected scalar type Float but found Double
"""

from __future__ import annotations

import math

from ts import dtypes
from ts._core.tensor import size_guards
from ts.ops import common
from ts.ops.out_variants import SCALAR

Array = common.Array
_MAX_SMALL_INPUT_ELEMENTS = 20480  # larger float32 inputs of one image are computed by oneDNN


def check_bias(x: Array, bias: Array | None) -> None:
    """Raise a RuntimeError unless the bias of an ordinary convolution has the dtype of `x`."""
    if bias is not None and bias.dtype != x.dtype:
        names = [common.CPP_NAME_OF[operand.dtype] for operand in (x, bias)]
        raise RuntimeError(f"Input type ({names[0]}) and bias type ({names[1]}) should be the same")


def check_operands(x: Array, weight: Array, bias: Array | None, groups: int) -> None:
    """Raise a RuntimeError unless weight and bias have the input's dtype.

    PyTorch's own kernels for transposed convolutions accept a bias that can be converted to the input's
    dtype.
    """
    if x.dtype == weight.dtype and (bias is None or bias.dtype == x.dtype):
        return
    is_onednn = _is_onednn(x, weight, groups)
    for name, operand in (("weight", weight), ("bias", bias)):
        if operand is None or operand.dtype == x.dtype:
            continue
        if is_onednn or x.dtype.kind == "c":
            other = f" or input should be a MKLDNN tensor and {name} is a dense tensor" if is_onednn else ""
            raise RuntimeError(
                f"Input type ({common.legacy_type_name(x)}) and {name} type "
                f"({common.legacy_type_name(operand)}) should be the same{other}"
            )
        if name == "weight":
            raise RuntimeError(common.dtype_message(SCALAR, x.dtype, operand.dtype))
        common.check_cast(common.promote_types(x.dtype, operand.dtype), x.dtype)


def _is_onednn(x: Array, weight: Array, groups: int) -> bool:
    """Return whether PyTorch computes the convolution by oneDNN."""
    if dtypes.is_bfloat16(x.dtype):
        return True
    if x.dtype != common.FLOAT:
        return False
    shape = x.shape if x.ndim == weight.ndim else (1, *x.shape)
    kernel = weight.shape[2:] if weight.ndim > 3 else (1, *weight.shape[2:])
    return bool(
        groups > 1
        or size_guards.evaluate_guard(shape[0] > 1)
        or (kernel[-1] > 3 and kernel[-2] > 3)
        or size_guards.evaluate_guard(math.prod(shape[:4]) > _MAX_SMALL_INPUT_ELEMENTS)
    )
