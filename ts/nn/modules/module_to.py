"""Conversion of the tensors of a module by `Module.to`, `float` and similar methods.

Input: the arguments of the method. Output: a function that converts one tensor. The conversion keeps the
dtype of integer tensors.

Example:

    convert = to(("cpu", ts.float64), {})
    convert(weight)                                                  # a float64 tensor
    convert_parameter(module, "weight", module.weight, convert)      # the converted parameter
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ts import __future__, dtypes
from ts._core.tensor.conversions import parse_conversion
from ts._core.tensor.subclasses import is_dispatched, is_traceable_wrapper_subclass, swap_tensors
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import GradMode
from ts.devices import device as Device
from ts.nn.parameter import Parameter

if TYPE_CHECKING:
    from ts.nn.modules.module import Module

Convert = Callable[[Tensor], Tensor]


def parse_to(*args: Any, **kwargs: Any) -> tuple[Device | None, Any, bool, Any]:
    """Return the device, dtype, `non_blocking` and memory format in the arguments of `to`."""
    conversion = parse_conversion(args, kwargs)
    if conversion.copy is not None:
        raise RuntimeError(".to() does not accept copy argument")
    return conversion.device, conversion.dtype, conversion.non_blocking, conversion.memory_format


def to(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Convert:
    """Return the function that `Module.to(*args, **kwargs)` applies to each tensor."""
    device, dtype, non_blocking, memory_format = parse_to(*args, **kwargs)
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(
            f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
        )

    def convert(t: Tensor) -> Tensor:
        target_dtype = dtype if t.is_floating_point() or t.is_complex() else None
        if device is not None:
            t = t.to(device, target_dtype if target_dtype is not None else t.dtype, non_blocking)
        elif target_dtype is not None:
            t = t.to(target_dtype)
        return t.to(memory_format=memory_format) if memory_format is not None and t.dim() in (4, 5) else t

    return convert


def real(name: str) -> Convert:
    """Return a function that converts floating-point tensors to the dtype `name`."""
    dtype = dtypes.NAMES[name]
    return lambda t: t.to(dtype) if t.is_floating_point() else t


def convert_parameter(module: Module, name: str, parameter: Any, convert: Convert) -> Any:
    """Convert a parameter of a module, in place if possible, and return it.

    Return a new parameter if the converted tensor has another class than the parameter, or if the option
    `overwrite_module_params_on_conversion` of `ts.__future__` is set.
    """
    swaps = __future__.get_swap_module_params_on_conversion()
    overwrites = __future__.get_overwrite_module_params_on_conversion()
    if not swaps and not overwrites and not is_dispatched(parameter):
        parameter.data = convert(parameter.data)
        return parameter
    with GradMode(False):
        converted = convert(parameter)
    if swaps or is_traceable_wrapper_subclass(converted):
        gradient, parameter.grad = parameter.grad, None
        with GradMode(False):
            gradient = None if gradient is None else convert(gradient)
        try:
            swap_tensors(parameter, Parameter(converted, parameter.requires_grad))
        except Exception as error:
            raise RuntimeError(f"_apply(): Couldn't swap {module._get_name()}.{name}") from error
        parameter.grad = gradient
        return parameter
    if overwrites or type(converted) is not type(parameter):
        return Parameter(converted, parameter.requires_grad)
    parameter.data = converted
    return parameter
