"""Layers of tensors whose class defines `__torch_dispatch__`, the handler that operators call.

Each tensor of such a class has a layer of the level SUBCLASSES. Tensors created by `_make_wrapper_subclass`
have shape, strides, dtype and device, but no elements. Their arrays belong to the meta backend. Tensors
created by `as_subclass` and `_make_subclass` have elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ts import devices, dtypes
from ts._core.dispatch_layers import level_stack
from ts._core.dispatch_layers.layer import Layer
from ts._core.tensor import strides as stride_rules
from ts._core.tensor.python_operators import operator
from ts._core.tensor.tensor import Tensor, backend_of, wrap_array
from ts._core.tensor.tensor_metadata import detached_array, set_layer
from ts._core.tensor.tensor_type import instance_of
from ts._core.thread.context import GradMode


class SubclassLayer(Layer):
    """Layer of a tensor whose class defines `__torch_dispatch__`."""

    def __init__(
        self, inner: Tensor, device: devices.device, layout: dtypes.layout, is_wrapper: bool
    ) -> None:
        super().__init__(level_stack.SUBCLASSES, inner)
        self.dispatches = True
        self.is_wrapper = is_wrapper
        self._device = device
        self._layout = layout

    @property
    def device(self) -> devices.device:
        """Device that was passed to the constructor of the tensor."""
        return self._device

    @property
    def layout(self) -> dtypes.layout:
        """Layout that was passed to the constructor of the tensor."""
        return self._layout

    def element(self, x: Tensor) -> Any:
        """Return the only element of `x` as a Python number, computed by the handler of its class."""
        return operator("_local_scalar_dense")(x)

    def detach(self, x: Tensor) -> Tensor:
        """Return the result of the class's handler for `x.detach()`.

        Raise RuntimeError if it is not a new tensor.
        """
        with GradMode(False):
            result = operator("detach")(x)
        if not isinstance(result, Tensor) or result is x:
            raise RuntimeError(
                f"__torch_dispatch__ of {type(x).__name__} returned "
                f"{'the same tensor' if result is x else type(result).__name__} for aten.detach.default, "
                "expected a new tensor"
            )
        return result

    def check_elements(self) -> None:
        """Raise RuntimeError, because the elements cannot be read as an array."""
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")

    def check_copy_to_host(self) -> None:
        """Raise RuntimeError, because the elements cannot be read as an array."""
        self.check_elements()

    def reduce(self, x: Tensor) -> tuple[Any, ...]:
        """Return the value of `__reduce_ex__` for a wrapper, with its metadata and attributes."""
        metadata = (
            x.dtype,
            tuple(x.shape),
            x.stride(),
            x.storage_offset(),
            x.layout,
            x.device,
            x.requires_grad,
        )
        return rebuild_wrapper, (type(x), metadata, vars(x))


def attach_layer(x: Tensor) -> None:
    """Attach a layer to a tensor with elements whose class defines `__torch_dispatch__`."""
    level_stack.expect_subclasses()
    set_layer(x, SubclassLayer(detached_array(x), x.device, x.layout, False))


def replace_data(x: Tensor, other: Tensor) -> None:
    """Complete the assignment `x.data = other`.

    The array is already copied, and this function copies device and layout.
    """
    set_layer(x, SubclassLayer(detached_array(other), other.device, other.layout, x.is_meta))


def call_without_dispatch(func: Callable[..., Any], args: Any, kwargs: dict[str, Any] | None) -> Any:
    """Return func(*args, **kwargs), called without `__torch_dispatch__` handlers."""
    with level_stack.no_transforms():
        return func(*args, **(kwargs or {}))


# ---------------------------------------------------------------- wrappers


def make_wrapper(*args: Any, **kwargs: Any) -> Tensor:
    """Implement `Tensor._make_wrapper_subclass`."""
    arguments = _bind(args, kwargs)
    cls = arguments["cls"]
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    if not issubclass(cls, Tensor):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. "
            "Make sure your class inherits from Tensor."
        )
    if cls.__torch_dispatch__ is Tensor.__torch_dispatch__:  # type: ignore[attr-defined]
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    policy = arguments["dispatch_sizes_strides_policy"]
    if policy not in (None, "sizes", "strides"):
        raise ValueError(f"Unknown sizes_strides_policy: {policy}; expected 'strides' or 'sizes'")
    dtype = dtypes.get_default_dtype() if arguments["dtype"] is None else arguments["dtype"]
    if arguments["requires_grad"] and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    device = devices.CPU if arguments["device"] is None else devices.as_device(arguments["device"])
    level_stack.expect_subclasses()
    inner = wrap_array(_metadata(arguments, dtype))
    result: Tensor = instance_of(cls, wrap_array(inner.array))
    set_layer(result, SubclassLayer(inner, device, arguments["layout"], True))
    return result._marked(True) if arguments["requires_grad"] else result


def _metadata(arguments: dict[str, Any], dtype: dtypes.dtype) -> Any:
    """Return a meta array with the given size, strides and offset."""
    size, steps = tuple(arguments["size"]), arguments["strides"]
    if any(n < 0 for n in size if isinstance(n, int)):
        raise RuntimeError("numel: integer multiplication overflow")
    if steps is None:
        if arguments["storage_offset"] is not None:
            raise RuntimeError("setting storage offset without stride not supported")
        steps = stride_rules.contiguous(size)
    elif len(steps) != len(size):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(steps)})"
        )
    itemsize = np.dtype(dtype.numpy_dtype).itemsize
    array_type = backend_of("meta").array_type
    offset = arguments["storage_offset"] or 0
    return array_type(size, dtype.numpy_dtype, [step * itemsize for step in steps], offset)


# parameter of `_make_wrapper_subclass` -> (name of its type in messages, predicate that checks an argument,
# default)
_PARAMETERS: dict[str, tuple[str, Callable[[Any], bool], Any]] = {}


def _is_int_tuple(x: Any) -> bool:
    return isinstance(x, tuple | list) and all(
        hasattr(n, "__index__") and not isinstance(n, Tensor) for n in x
    )


def _declare() -> None:
    def is_bool(x: Any) -> bool:
        return isinstance(x, bool)

    def is_int(x: Any) -> bool:
        return hasattr(x, "__index__") and not isinstance(x, bool)

    _PARAMETERS.update(
        cls=("object", lambda x: True, NoReturn),
        size=("tuple of ints", _is_int_tuple, NoReturn),
        strides=("tuple of ints", _is_int_tuple, None),
        storage_offset=("int", is_int, None),
        memory_format=("torch.memory_format", lambda x: isinstance(x, dtypes.memory_format), None),
        dtype=("torch.dtype", lambda x: isinstance(x, dtypes.dtype), None),
        layout=("torch.layout", lambda x: isinstance(x, dtypes.layout), dtypes.strided),
        device=("torch.device", lambda x: isinstance(x, devices.device | str | int), None),
        pin_memory=("bool", is_bool, False),
        requires_grad=("bool", is_bool, False),
        dispatch_sizes_strides_policy=("str", lambda x: isinstance(x, str), None),
        dispatch_device=("bool", is_bool, False),
        dispatch_layout=("bool", is_bool, False),
        _extra_dispatch_keys=("DispatchKeySet", lambda x: True, None),
        storage_size=("int", is_int, None),
    )


_declare()


def _bind(args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `_make_wrapper_subclass` by name. Raise PyTorch's TypeError if invalid."""
    names = list(_PARAMETERS)
    if len(args) > len(names):
        raise TypeError(
            f"_make_wrapper_subclass() takes {len(names)} positional arguments but {len(args)} were given"
        )
    arguments = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in _PARAMETERS:
            raise TypeError(f"_make_wrapper_subclass() got an unexpected keyword argument '{name}'")
        if name in arguments:
            raise TypeError(f"_make_wrapper_subclass() got multiple values for argument '{name}'")
        arguments[name] = value
    missing = [name for name in ("cls", "size") if name not in arguments]
    if missing:
        listed = ", ".join(f'"{name}"' for name in missing)
        raise TypeError(
            f"_make_wrapper_subclass() missing {len(missing)} required positional arguments: {listed}"
        )
    if isinstance(arguments["size"], int):
        arguments["size"] = (arguments["size"],)
    for name, (kind, is_kind, default) in _PARAMETERS.items():
        value = arguments.setdefault(name, default)
        if value is default or (value is None and default in (None, dtypes.strided)) or is_kind(value):
            if value is None:
                arguments[name] = default
            continue
        position = f" (position {names.index(name) + 1})" if names.index(name) < len(args) else ""
        raise TypeError(
            f"_make_wrapper_subclass(): argument '{name}'{position} must be {kind}, "
            f"not {type(value).__name__}"
        )
    return arguments


def rebuild_wrapper(cls: type, metadata: tuple[Any, ...], attributes: dict[str, Any]) -> Tensor:
    """Return an unpickled wrapper, from the arguments that `SubclassLayer.reduce` stored."""
    dtype, size, steps, offset, layout, device, requires_grad = metadata
    result = make_wrapper(
        cls,
        size,
        strides=steps,
        storage_offset=offset,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )
    vars(result).update(attributes)
    return result
