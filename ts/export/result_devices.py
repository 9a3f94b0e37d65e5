"""Device of the results of an operator on fake tensors.

Example: `result_device(op, [x, y])` returns the common device of the tensors x and y. If the devices differ,
most operators raise FakeTensorDeviceMismatchError.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ts import devices
from ts._core.tensor.tensor import Tensor
from ts.errors import FakeTensorDeviceMismatchError
from ts.export.fake import device_of
from ts.ops.shape_functions import DataDependentShapeError
from ts.tracing.meta_execution import tensors_in


@cache
def _accepts_several_devices(op: Any) -> bool:
    """Return True if tensor arguments of an operator may be on several devices, as in copies and indexing."""
    record = op.record
    if record is None:  # `sym_size` and similar functions only read sizes
        return True
    if record.tensor_kernel or record.of_program or record.family in ("foreach", "fused_optimizers"):
        return True
    return isinstance(record.shape, DataDependentShapeError) or any(
        p.kind == "Tensor?[]" for p in op.signature.parameters
    )


def result_device(op: Any, values: list[Any], *, ignore_meta: bool = False) -> devices.device:
    """Return the device of an operator's results, for the arguments `values`.

    Raise FakeTensorDeviceMismatchError if the tensors are on several devices and the operator does not accept
    this. 0-d CPU tensors are ignored. With `ignore_meta`, meta tensors are ignored, too, for derivative
    formulas in a FakeTensorMode.
    """
    for p, x in zip(op.signature.parameters, values, strict=True):
        if p.kind == "Device" and x is not None:
            return devices.as_device(x)
    tensors = list(tensors_in(values))
    if ignore_meta:
        tensors = [x for x in tensors if device_of(x).type != "meta"] or tensors
    chosen: Tensor | None = None
    for x in tensors:
        if chosen is None or (device_of(chosen).type == "cpu" and chosen.ndim == 0):
            chosen = x
    if chosen is None:
        return devices.CPU
    device = device_of(chosen)
    if _accepts_several_devices(op):
        return device
    for x in tensors:
        if device_of(x) != device and not (device_of(x).type == "cpu" and x.ndim == 0):
            raise FakeTensorDeviceMismatchError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{device} and {device_of(x)}!"
            )
    return device
