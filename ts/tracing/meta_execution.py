"""Arguments of operators for their execution on meta tensors, which have no elements.

Example: for `x.to("cuda")` with a fake tensor x on the CPU, the meta kernel of `aten::to.dtype_layout`
receives the device "meta" and `copy=True`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ts import devices
from ts._core.tensor.tensor import Tensor

META: Final = devices.device("meta")


def on_meta_device(op: Any, values: list[Any], device: devices.device | None = None) -> list[Any]:
    """Return an operator's arguments, in which the meta device replaces devices.

    `device` is the device of the result, or None if it is unknown. If the first tensor is on another device,
    the argument `copy` becomes True. Otherwise, the kernel could return the tensor itself, as it receives
    only meta tensors.
    """
    first = next(_tensors(values), None)
    is_moved = device is not None and first is not None and first.device != device
    arguments = []
    for p, x in zip(op.signature.parameters, values, strict=True):
        if p.kind == "Device" and (x is not None or first is None):
            arguments.append(META)
        else:
            arguments.append(True if p.name == "copy" and is_moved else x)
    return arguments


def _tensors(values: Any) -> Iterator[Tensor]:
    for x in values:
        if isinstance(x, Tensor):
            yield x
        elif isinstance(x, list | tuple):
            yield from _tensors(x)
