"""Constant propagation, by which fake tensors that are computed from Python numbers have known elements.

Therefore, a program can branch on a learning rate or a counter that it stores in a tensor:

    with ts.fake():
        n = ts.tensor(3)
        (n + 1).item()              returns 4
        n.add_(ts.ones(()))         the elements of n and of views of n become unknown
"""

from __future__ import annotations

from typing import Any, Final

import ts
from ts import devices
from ts._core.dispatch_layers import level_stack
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import layer_of
from ts._core.thread.context import TracingScope
from ts.export.fake import is_fake
from ts.tracing.meta_execution import tensors_in

MAX_ELEMENTS: Final = 1024  # maximum number of elements of a tensor whose values are tracked


class Constant:
    """Known elements of a fake tensor.

    tensor   real tensor with the elements
    shared   list with one bool, shared by all views of the memory. The bool is False if the elements are no
             longer known
    """

    __slots__ = ("shared", "tensor")

    def __init__(self, tensor: Tensor, shared: list[bool] | None = None) -> None:
        self.tensor = tensor
        self.shared = [True] if shared is None else shared


def constant_of(x: Any) -> Constant | None:
    """Return the known elements of a fake tensor, or None if they are unknown."""
    constant: Constant | None = layer_of(x).constant if is_fake(x) else None
    return constant if constant is not None and constant.shared[0] else None


def resolve_constants(values: list[Any]) -> list[Any] | None:
    """Replace each fake tensor in an operator's arguments by a real tensor with the known elements.

    Return None if the elements of a tensor are unknown, or if no argument is a tensor.
    """
    tensors = list(tensors_in(values))
    if not tensors or any(x.requires_grad or constant_of(x) is None for x in tensors):
        return None
    return [_with_elements(x) for x in values]


def _with_elements(x: Any) -> Any:
    if isinstance(x, list):
        return [_with_elements(y) for y in x]
    return layer_of(x).constant.tensor if isinstance(x, Tensor) else x


def carry(op: Any, values: list[Any], result: Any) -> None:
    """Compute the elements of `result` if the elements of all arguments are known.

    The elements of `result` are then known as well. Otherwise, mark the elements of arguments that the
    operator writes as unknown.
    """
    if not any(is_fake(x) and layer_of(x).constant is not None for x in tensors_in(values)):
        return
    arguments = resolve_constants(values)
    parameters = op.signature.parameters
    shared = [
        layer_of(x).constant.shared
        for p, value in zip(parameters, values, strict=True)
        for x in (tensors_in([value]) if p.alias or p.written else ())
        if is_fake(x) and layer_of(x).constant is not None
    ]
    is_small = all(constant_of(x) or x.numel() <= 1 for x in tensors_in([result])) or shared
    if arguments is None or op.record.nondeterministic or not is_small:
        for p, value in zip(parameters, values, strict=True):
            for x in tensors_in([value]) if p.written else ():
                if is_fake(x) and layer_of(x).constant is not None:
                    layer_of(x).constant.shared[0] = False
        return
    real_result = run_on_constants(op, arguments)
    for fake, real in zip(tensors_in([result]), tensors_in([real_result]), strict=True):
        if is_fake(fake) and layer_of(fake).constant is None:
            layer_of(fake).constant = Constant(real, shared[0] if shared else None)


def run_on_constants(op: Any, arguments: list[Any]) -> Any:
    """Run an operator on real CPU tensors, without tracing, transforms and gradients."""
    arguments = [
        devices.CPU if p.kind == "Device" and x is not None else x
        for p, x in zip(op.signature.parameters, arguments, strict=True)
    ]
    with TracingScope(None), level_stack.no_transforms(), ts.no_grad():
        return op.call_list(arguments)


def to_python_scalar(x: Constant) -> Any:
    """Return the only element of a constant as a Python number."""
    with TracingScope(None), level_stack.no_transforms():
        return x.tensor.item()
