"""Gradient clipping by value and by global norm, and gradient norms.

`clip_grad_norm_(net.parameters(), 1.0)` scales the gradients to a norm of at most 1. The function returns the
previous norm. Parameters without a gradient are ignored.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from types import GeneratorType
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor

Parameters = Tensor | Iterable[Tensor]


def _as_list(parameters: Parameters, argument_name: str = "") -> list[Tensor]:
    """Return the parameters as a list.

    If `argument_name` is given, warn about a generator without elements.
    """
    if isinstance(parameters, Tensor):
        return [parameters]
    parameter_list = list(parameters)
    if argument_name and not parameter_list and isinstance(parameters, GeneratorType):
        warnings.warn(
            f"`{argument_name}` is an empty generator, no gradient clipping will occur.", stacklevel=3
        )
    return parameter_list


def _gradients(parameters: Parameters) -> list[Tensor]:
    return [x.grad for x in _as_list(parameters) if x.grad is not None]


def get_total_norm(
    tensors: Parameters, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """Return the norm of the elements of all tensors together."""
    tensor_list = _as_list(tensors)
    norm_type = float(norm_type)
    if not tensor_list:
        zero: Tensor = ts.tensor(0.0)
        return zero
    norms = ts._foreach_norm(tensor_list, norm_type)
    total: Tensor = ts.linalg.vector_norm(ts.stack([x.to(tensor_list[0].device) for x in norms]), norm_type)
    if error_if_nonfinite and not bool(ts.isfinite(total)):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it "
            "cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway, "
            "set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(
    parameters: Parameters, max_norm: float, total_norm: Any, foreach: bool | None = None
) -> None:
    """Scale all gradients to a norm of at most `max_norm`. `total_norm` is their current norm."""
    gradients = _gradients(parameters)
    if not gradients:
        return
    factor: Any = ts.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
    devices = {gradient.device for gradient in gradients}
    for device in devices:
        device_gradients = [x for x in gradients if x.device == device] if len(devices) > 1 else gradients
        ts._foreach_mul_(device_gradients, factor.to(device))


def clip_grad_norm_(
    parameters: Parameters,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients to a norm of at most `max_norm`, and return their previous norm."""
    parameter_list = _as_list(parameters, "parameters")
    total = get_total_norm(_gradients(parameter_list), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameter_list, max_norm, total)
    return total


def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """Call `clip_grad_norm_` and warn about the deprecated name."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(*args, **kwargs)


def clip_grad_value_(parameters: Parameters, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp all elements of the gradients to [-clip_value, clip_value]."""
    limit, gradients = float(clip_value), _gradients(parameters)
    if gradients:
        ts._foreach_clamp_min_(gradients, -limit)
        ts._foreach_clamp_max_(gradients, limit)
