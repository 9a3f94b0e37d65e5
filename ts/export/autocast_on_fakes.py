"""Autocast on fake tensors: computes the dtype to which autocast converts the arguments of an operator."""

from __future__ import annotations

from typing import Any

from ts import dtypes
from ts._core.dispatch import autocast
from ts._core.tensor.tensor import Tensor
from ts.export.fake import device_of
from ts.tracing.meta_execution import tensors_in


def is_cast(x: Tensor, dtype: Any) -> bool:
    """Return True if autocast would convert `x` to `dtype`.

    Autocast converts every floating-point tensor, except tensors of dtype float64 and tensors that have
    `dtype` already.
    """
    return x.is_floating_point() and x.dtype is not dtypes.float64 and x.dtype is not dtype


def rule_of(op: Any, device: str) -> str:
    """Return the autocast rule of an operator on the device type `device`.

    The rules are:

    ""           arguments are not converted
    "lower"      arguments are converted to the dtype of the autocast block
    "float32"    arguments are converted to float32
    "widest"     as "float32" if an argument has dtype float32, else as "lower"
    other text   calls raise an error with this message
    """
    rule = "" if op.record is None else op.record.autocast
    return rule if isinstance(rule, str) else rule.get(device, "")


def find_autocast_flag(values: list[Any]) -> int | None:
    """Return the index of the autocast setting for the device of the first tensor in `values`.

    Return None if `values` contains no tensor, or if autocast is disabled or unsupported on the tensor's
    device.
    """
    first = next(tensors_in(values), None)
    if first is None or (device := device_of(first).type) not in autocast.LOWER_DTYPES:
        return None
    flag_index = autocast.backend_index(device)
    return flag_index if autocast.is_enabled(flag_index) else None


def cast_dtype(op: Any, values: list[Any]) -> Any:
    """Return the dtype to which autocast converts the arguments of `op`, or None for no conversion.

    Raise RuntimeError if the operator must not be called under autocast.
    """
    flag_index = find_autocast_flag(values)
    if flag_index is None:
        return None
    rule = rule_of(op, device_of(next(tensors_in(values))).type)
    if rule == "":
        return None
    if rule == "lower":
        return autocast.lower_dtype(flag_index)
    if rule == "float32":
        names = [p.name for p in op.signature.parameters]
        is_said = "dtype" in names and values[names.index("dtype")] is not None
        return None if is_said else dtypes.float32
    if rule == "widest":
        floats = [x.dtype for x in tensors_in(values) if is_cast(x, None)]
        return dtypes.float32 if dtypes.float32 in floats else autocast.lower_dtype(flag_index)
    raise RuntimeError(rule)


__all__ = ["cast_dtype", "find_autocast_flag", "is_cast", "rule_of"]
