"""Gradient methods of Tensor: `backward`, hooks and gradient properties.

Examples with their effects:

    (x * x).sum().backward()                sets x.grad to 2 * x
    y.register_hook(lambda g: g * 0.5)      halves the gradient that flows from y to its inputs
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_type import define_methods
from ts._core.thread.context import current_tracer


def _watched(x: Tensor, how: str) -> None:
    """Notify an active export that the program calls method `how`, which uses the gradient of `x`."""
    tracer = current_tracer()
    if tracer is not None and tracer.tape is not None:
        tracer.tape.watch(x, how)


def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add gradients of this tensor to `grad` of its graph's leaves, or only to `grad` of `inputs` if given.

    `gradient` is the gradient with respect to this tensor and has its shape. It may be omitted if the tensor
    has one element.
    """
    from ts._core.autograd.backward import backward as backward_of

    backward_of(self, gradient, retain_graph, create_graph, inputs=inputs)


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> Any:
    """Register a function hook(gradient), which backward calls with the gradient of this tensor.

    A tensor that the hook returns replaces the gradient.
    """
    from ts._core.autograd.history import hooks_of_tensor
    from ts._core.tensor.hooks import add_hook

    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    _watched(self, "register_hook")
    hooks, output = hooks_of_tensor(self)
    return add_hook(hooks.of_output(output), hook)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> Any:
    """Register a function hook(leaf), which backward calls after it has added to `grad` of this leaf."""
    from ts._core.autograd.history import hooks_of_tensor
    from ts._core.tensor.hooks import add_hook

    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not self.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    hooks, _ = hooks_of_tensor(self)
    return add_hook(hooks.accumulated, hook)


def retain_grad(self: Tensor) -> None:
    """Make backward store the gradient of this non-leaf tensor in `grad`."""
    from ts._core.autograd.history import has_node, is_retained, retain
    from ts._core.thread.transform_state import raise_inside_transforms

    raise_inside_transforms("retain_grad", "")
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    _watched(self, "retain_grad")
    if has_node(self) and not is_retained(self):
        retain(self)


def _retains_grad(self: Tensor) -> bool:
    from ts._core.autograd.history import is_retained

    return is_retained(self)


def _output_nr(self: Tensor) -> int:
    from ts._core.autograd.history import output_of

    return output_of(self) if self.requires_grad else 0


def _volatile(self: Tensor) -> bool:
    warnings.warn("volatile was removed (Variable.volatile is always False)", stacklevel=2)
    return False


def _hooks(self: Tensor) -> Any:
    """Return this tensor's gradient hook table, or None without hooks."""
    from ts._core.autograd.history import hooks_of_tensor

    if not self.requires_grad:
        # The tensor does not require grad, so it has no backward node. An attribute stores its hooks, and no
        # backward pass calls them.
        return self.__dict__.get("_backward_hooks")
    hooks, output = hooks_of_tensor(self)
    return hooks.tensors.get(output)


def _set_hooks(self: Tensor, table: Any) -> None:
    from ts._core.autograd.history import hooks_of_tensor

    if not self.requires_grad:
        self.__dict__["_backward_hooks"] = table
        return
    hooks, output = hooks_of_tensor(self)
    hooks.tensors[output] = {} if table is None else table


def _not_deleted(self: Tensor) -> None:
    raise RuntimeError("this attribute of a tensor cannot be deleted")


define_methods({
    "backward": backward,
    "register_hook": register_hook,
    "register_post_accumulate_grad_hook": register_post_accumulate_grad_hook,
    "retain_grad": retain_grad,
    "retains_grad": property(_retains_grad),
    "output_nr": property(_output_nr),
    "volatile": property(_volatile),
    "_grad_fn": property(lambda self: self.grad_fn, None, _not_deleted),
    "_backward_hooks": property(_hooks, _set_hooks, _not_deleted),
})  # fmt: skip
