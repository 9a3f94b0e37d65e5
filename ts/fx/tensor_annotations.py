"""Descriptions of tensors in generated code: `f32[2, 3]`, optionally with strides and device.

The abbreviations are PyTorch's (`torch.utils._dtype_abbrs`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import ts

_ABBREVIATIONS: Final = {
    "bfloat16": "bf16", "float64": "f64", "float32": "f32", "float16": "f16", "float8_e4m3fn": "f8e4m3fn",
    "float8_e5m2": "f8e5m2", "float8_e4m3fnuz": "f8e4m3fnuz", "float8_e5m2fnuz": "f8e5m2fnuz",
    "float8_e8m0fnu": "f8e8m0fnu", "complex32": "c32", "complex64": "c64", "complex128": "c128",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "bool": "b8", "uint8": "u8",
    "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip


def dtype_abbreviation(dtype: Any) -> str:
    """Return the abbreviation of a dtype, such as `f32` for `torch.float32`."""
    name = str(dtype).rpartition(".")[2]
    return _ABBREVIATIONS.get(name, name)


def shape_text(shape: Iterable[Any]) -> str:
    """Return the text of a shape or of strides: `[2, 3]`."""
    return f"[{', '.join(str(x) for x in shape)}]"


def tensor_text(tensor: ts.Tensor, stride: bool = False, device: bool = False) -> str:
    """Return the description of a tensor: `f32[2, 3][3, 1]cpu`."""
    strides = shape_text(tensor.stride()) if stride else ""
    device_name = str(tensor.device) if device else ""
    return f"{dtype_abbreviation(tensor.dtype)}{shape_text(tensor.shape)}{strides}{device_name}"
