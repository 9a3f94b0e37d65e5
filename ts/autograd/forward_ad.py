"""Forward-mode automatic differentiation with tensors that have tangents.

The example computes the derivative of f along a tangent:

    with forward_ad.dual_level():
        x = forward_ad.make_dual(primal, tangent)
        forward_ad.unpack_dual(f(x)).tangent

A tensor loses its tangent when the level is closed.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from ts._core.dispatch_layers import dual_tensor, level_stack
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import set_layer
from ts._core.thread.context import is_inference_mode_enabled

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual",
]  # fmt: skip


class UnpackedDualTensor(NamedTuple):
    """Primal tensor and its tangent. The tangent may be None."""

    primal: Tensor
    tangent: Tensor | None


class _CurrentLevel(threading.local):
    level: level_stack.Level | None = None


_current = _CurrentLevel()


def enter_dual_level() -> int:
    """Open the forward-mode level, so that tensors can have tangents.

    Raise RuntimeError if the level is already open.
    """
    if _current.level is not None:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment. If this is something you would like "
            "to see, please file an issue."
        )
    dual_tensor.raise_recording_unsupported()
    _current.level = level_stack.push(dual_tensor.run, dual_tensor.without_tangent)
    _current.level.hides_elements = False
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the forward-mode level and remove all tangents. Raise RuntimeError if the level is not open."""
    if _current.level is None or level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not "
            "supported."
        )
    level_stack.pop(_current.level)
    _current.level = None


class dual_level:
    """Context manager that opens the forward-mode level (dual level) during its block."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *error: Any) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a view of `tensor` with a tangent of the same shape and dtype.

    The tensor stores `tangent` itself, without a copy, if both tensors have equal strides and storage sizes.
    In-place operators on the result then write to `tangent`. In inference mode, the result has no tangent.

    Raise RuntimeError outside a level, and ValueError for integer tensors.
    """
    current_level = _current.level
    if current_level is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    if level not in (None, 0):
        raise RuntimeError("Invalid level given to _make_dual")
    for name, x in (("tensor", tensor), ("tangent", tangent)):
        if not (x.is_floating_point() or x.is_complex()):
            argument = "primal" if name == "tensor" else "tangent"
            raise ValueError(f"Expected {argument} to be floating point or complex, but got: {x.dtype}")
    if level_stack.of_level(tensor, current_level) is not None and unpack_dual(tensor).tangent is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 "
            "is not supported."
        )
    if level_stack.of_level(tangent, current_level) is not None and unpack_dual(tangent).tangent is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not supported."
        )
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            f"Expected tangent to have the same shape as primal, {tuple(tensor.shape)}, but got "
            f"{tuple(tangent.shape)}"
        )
    if is_inference_mode_enabled():
        return tensor.view_as(tensor)
    inner, _ = dual_tensor.unwrap_dual(current_level, tensor)
    dual: Tensor = tensor.view_as(tensor)
    with level_stack.below_level(current_level):
        view_of_primal = inner.view_as(inner)
        laid_out = dual_tensor.lay_out_tangent(dual_tensor.unwrap_dual(current_level, tangent)[0], inner)
    set_layer(dual, dual_tensor.Dual(current_level, view_of_primal, laid_out))
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the primal and the tangent of a tensor.

    The tangent is None if the tensor has none, if no level is open, or in inference mode.
    """
    current_level = _current.level
    if current_level is None:
        return UnpackedDualTensor(tensor, None)
    primal, tangent = dual_tensor.unwrap_dual(current_level, tensor)
    with level_stack.below_level(current_level):
        view_of_primal = primal.view_as(primal)
    if not dual_tensor.computes_tangents(current_level):
        tangent = None
    return UnpackedDualTensor(view_of_primal, tangent)


class _set_fwd_grad_enabled:
    """Context manager that enables or disables the computation of tangents. It takes effect immediately."""

    def __init__(self, mode: bool) -> None:
        self.previous = dual_tensor.is_forward_mode_enabled()
        dual_tensor.set_forward_mode(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        dual_tensor.set_forward_mode(self.previous)
