"""Descriptions of tensors in generated code: `f32[2, 3]`, optionally with strides and device.

The abbreviations of dtypes are PyTorch's (`torch.utils._dtype_abbrs`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ts
from ts import dtypes


def dtype_abbreviation(dtype: Any) -> str:
    """Return the abbreviation of a dtype, such as `f32` for `torch.float32`."""
    name = str(dtype).rpartition(".")[2]
    return dtypes.NAMES[name].abbr if name in dtypes.NAMES else name


def shape_text(shape: Iterable[Any]) -> str:
    """Return the text of a shape or of strides: `[2, 3]`."""
    return f"[{', '.join(str(x) for x in shape)}]"


def tensor_text(tensor: ts.Tensor, stride: bool = False, device: bool = False) -> str:
    """Return the description of a tensor: `f32[2, 3][3, 1]cpu`."""
    strides = shape_text(tensor.stride()) if stride else ""
    device_name = str(tensor.device) if device else ""
    return f"{dtype_abbreviation(tensor.dtype)}{shape_text(tensor.shape)}{strides}{device_name}"
