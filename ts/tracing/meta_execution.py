"""Execution of operators on meta tensors, which have no elements.

Fake tensor modes, exports, shape checks of loaded programs and previews of control flow use it. For example,
for `x.to("cuda")` with a fake tensor x on the CPU, the kernel of `aten::to.dtype_layout` receives the device
"meta" and `copy=True`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from ts import devices
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import TracingScope

META: Final = devices.device("meta")


def execute(
    op: Any,
    values: list[Any],
    call: Callable[[list[Any]], Any] | None = None,
    device: devices.device | None = None,
    to_meta: Callable[[Tensor], Tensor] | None = None,
) -> Any:
    """Run an operator on meta tensors, without tracing, and return its result.

    The tensors in `values` are meta tensors, or `to_meta` converts them to meta tensors. `call(arguments)`
    runs the operator. By default, this is `op.call_list`.

    `device` is the device of the result, or None if it is unknown. If the first tensor is on another device,
    the argument `copy` becomes True. Otherwise, the kernel could return the tensor itself, as it receives
    only meta tensors.
    """
    first = next(tensors_in(values), None)
    is_moved = device is not None and first is not None and first.device != device
    arguments: list[Any] = []
    for p, x in zip(op.signature.parameters, values, strict=True):
        if p.kind == "Device" and (x is not None or first is None):
            arguments.append(META)
        elif p.name == "copy" and is_moved:
            arguments.append(True)
        else:
            arguments.append(x if to_meta is None else map_tensors(to_meta, x))
    with TracingScope(None):
        return op.call_list(arguments) if call is None else call(arguments)


def map_tensors(function: Callable[[Tensor], Any], x: Any) -> Any:
    """Replace each tensor t in the argument `x` of an operator by `function(t)`.

    `x` is a tensor, a nested list that may contain tensors, or another value, which is returned unchanged.
    """
    if isinstance(x, list):
        return [map_tensors(function, y) for y in x]
    return function(x) if isinstance(x, Tensor) else x


def tensors_in(values: Any) -> Iterator[Tensor]:
    """Yield the tensors in `values` and nested lists."""
    for x in values:
        if isinstance(x, list | tuple):
            yield from tensors_in(x)
        elif isinstance(x, Tensor):
            yield x
