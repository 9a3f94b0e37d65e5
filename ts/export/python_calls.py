"""Overloads and default options that PyTorch's Python bindings choose for operator calls.

Each line shows a Python expression and the recorded call:

    x + 1               aten.add.Tensor(x, 1), although `ts` computes aten.add.Scalar
    ts.zeros(2)         aten.zeros.default([2], device=cpu, pin_memory=False)
    x.new_zeros(2)      aten.new_zeros.default(x, [2], pin_memory=False)
"""

from __future__ import annotations

from typing import Any

from ts import devices
from ts.ops import registry


def overload_for_numbers(op: Any) -> Any:
    """Return the Tensor overload that PyTorch calls for the Scalar overload `op`.

    Return `op` itself if `op` is not a Scalar overload, or if PyTorch calls the Scalar overload, too.
    """
    if op.overload not in ("Scalar", "Scalar_mode"):
        return op
    overload_names = ("", "Tensor") if op.overload == "Scalar" else ("Tensor_mode",)
    for other in registry.lookup(op.name):
        if other.overload in overload_names and other.record is not None and other.record.wraps_numbers:
            return other
    return op


def with_factory_options(op: Any, values: list[Any]) -> list[Any]:
    """Return `values` in which None for `device` and `pin_memory` is replaced by PyTorch's defaults.

    The default of `device` is "cpu" for factory functions without tensor arguments, otherwise None.
    """
    parameters = op.signature.parameters
    names = {p.name: i for i, p in enumerate(parameters)}
    if "pin_memory" not in names or "device" not in names or op.record.family == "to":
        return values
    arguments = list(values)
    of_tensor = any(p.kind == "Tensor" for p in parameters)
    if arguments[names["device"]] is None and not of_tensor:
        arguments[names["device"]] = devices.CPU
    if arguments[names["pin_memory"]] is None:
        arguments[names["pin_memory"]] = False
    return arguments
