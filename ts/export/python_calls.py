"""Calls as PyTorch's Python functions make them: the overload that they run, the options that they fill in.

x + 1               aten.add.Tensor(x, 1), though it is computed as aten.add.Scalar
ts.zeros(2)         aten.zeros.default([2], device=cpu, pin_memory=False)
x.new_zeros(2)      aten.new_zeros.default(x, [2], pin_memory=False)
"""

from __future__ import annotations

from typing import Any

from ts import devices
from ts.ops import registry


def overload_for_numbers(op: Any) -> Any:
    """Return the overload of tensors for one of numbers, if PyTorch wraps the number; others as they are."""
    if op.overload != "Scalar":
        return op
    for other in registry.lookup(op.name):
        if other.overload in ("", "Tensor") and other.record is not None and other.record.wraps_numbers:
            return other
    return op


def with_factory_options(op: Any, values: list[Any]) -> list[Any]:
    """Return the arguments of an operator that makes tensors with its device and without pinned memory."""
    parameters = op.signature.parameters
    names = {p.name: i for i, p in enumerate(parameters)}
    if op.name in _NOT_FILLED or "pin_memory" not in names or "device" not in names:
        return values
    found = list(values)
    of_tensor = any(p.kind == "Tensor" for p in parameters)
    if found[names["device"]] is None and not of_tensor:
        found[names["device"]] = devices.CPU
    if found[names["pin_memory"]] is None:
        found[names["pin_memory"]] = False
    return found


_NOT_FILLED = frozenset(("aten::_to_copy", "aten::to"))
