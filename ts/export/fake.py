"""Fake tensors, which have metadata but no elements. Exports run programs on fake tensors.

Example: `fake(x)` returns a tensor with the shape, dtype and device of x, without memory.

A fake tensor contains a meta array, whose sizes may be symbolic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ts import backends, devices, dtypes
from ts._core.dispatch.overloads import overloads
from ts._core.dispatch_layers.layer import Layer
from ts._core.dispatch_layers.level_stack import FAKES
from ts._core.tensor.sym_types import SymInt
from ts._core.tensor.tensor import Tensor, wrap_array
from ts._core.tensor.tensor_metadata import layer_of, set_layer
from ts._core.thread.context import current_tracer
from ts.backends.meta.array import MetaArray

backends.get("meta")


class Fake(Layer):
    """Layer of a fake tensor, with the tensor's meta array and the device of the represented tensor.

    mode    fake tensor mode that runs operators on the tensor, or None in exports
    """

    level = 0  # levels of function transforms start at 1

    def __init__(self, inner: Tensor, device: devices.device, mode: Any = None) -> None:
        super().__init__(0 if mode is None else FAKES, inner)
        self.stands_on = device
        self.mode = mode
        # known elements of the tensor (`constant_propagation.Constant`), or None if they are unknown
        self.constant: Any = None
        # True if the fake tensor stands for a real tensor. A write, which could not change the real tensor,
        # then raises an error.
        self.of_real = False

    @property
    def device(self) -> devices.device:
        """Device of the tensor that this fake tensor represents."""
        return self.stands_on

    def element(self, x: Tensor) -> Any:
        """Return a symbol for the single element of `x`, created by the tracer or the fake tensor mode.

        Raise RuntimeError if there is neither a tracer nor a mode.
        """
        recorder = current_tracer()
        context = recorder if recorder is not None and recorder.has_elements else self.mode
        if context is None:
            self.check_elements()
        return context.element(x)

    def copied(self, x: Tensor) -> Tensor:
        """Return a fake tensor with the metadata of `x`, as a shallow copy.

        While a tracer records, record the operator `alias` and return its result.
        """
        if current_tracer() is not None:
            return overloads("alias")(x)  # type: ignore[no-any-return]
        return fake_for(x.array, self.device, x.requires_grad)

    def deepcopied(self, x: Tensor) -> Tensor:
        """Return a fake tensor with the metadata of `x`, as a deep copy.

        While a tracer records, record the operator `clone` and return its result.
        """
        if current_tracer() is not None:
            return x.detach().clone()  # type: ignore[attr-defined, no-any-return]
        return fake_for(x.array, self.device)

    def check_elements(self) -> None:
        """Raise RuntimeError, as fake tensors have no elements."""
        raise RuntimeError("a fake tensor has no elements")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError("a fake tensor has no elements to pickle")

    def describe(self) -> str:
        """Return the `repr` of a fake tensor."""
        x = self.inner
        fields = [f"size=({', '.join(map(str, x.array.shape))}{',' if x.ndim == 1 else ''})"]
        if self.device.type != "cpu":
            fields.insert(0, f"device='{self.device}'")
        if x.dtype is not dtypes.float32:
            fields.append(f"dtype={x.dtype}")
        return f"FakeTensor(..., {', '.join(fields)})"


def fake_array(shape: Iterable[Any], dtype: Any, strides: Sequence[Any] | None = None) -> MetaArray:
    """Create an array without elements. `strides` are in elements."""
    item = np.dtype(dtype).itemsize
    return MetaArray(shape, dtype, None if strides is None else [s * item for s in strides])


def substitute_constants(array: MetaArray) -> MetaArray:
    """Return `array` in which each symbolic size and stride with only one possible value is an int."""
    if not any(substitute_constant(n) is not n for n in array.shape):
        return array
    return MetaArray(
        map(substitute_constant, array.shape),
        array.dtype,
        map(substitute_constant, array.strides),
        array.offset,
    )


def substitute_constant(n: Any) -> Any:
    """Return the int value of the SymInt `n` if the value is known. Return other values of `n` unchanged."""
    constant = n.node.maybe_as_int() if isinstance(n, SymInt) else None
    return n if constant is None else constant


def fake_for(array: MetaArray, device: devices.device, requires_grad: bool = False) -> Tensor:
    """Create a fake tensor on `device` with the shape, dtype and strides of `array`."""
    tensor = wrap_array(array)
    set_layer(tensor, Fake(wrap_array(array), device))
    return tensor._marked(True) if requires_grad else tensor  # type: ignore[no-any-return]


def fake(x: Tensor, shape: Iterable[Any] | None = None) -> Tensor:
    """Create a fake tensor with the metadata of `x`, or with the shape `shape`.

    If `shape` is symbolic, the strides of the fake tensor are expressions of its sizes where possible.
    """
    array = x.array
    if shape is None:
        meta_array = MetaArray(array.shape, array.dtype, tuple(array.strides))
    elif x.is_contiguous():
        meta_array = MetaArray(shape, array.dtype)
    else:
        sizes = tuple(shape)
        meta_array = fake_array(sizes, array.dtype, _symbolic_strides(x, sizes))
    return fake_for(meta_array, x.device, x.requires_grad)


def _symbolic_strides(x: Tensor, shape: Sequence[Any]) -> list[Any]:
    """Return the strides of `x` in elements, for the symbolic sizes `shape`.

    The stride of a dimension becomes the product of the size and stride of another dimension if this product
    equals the stride for the sizes of `x`. Strides 0 and 1, and other strides, remain numbers.
    """
    strides: list[Any] = list(x.stride())
    products: dict[int, Any] = {}  # size * stride of a dimension of `x` -> this product for `shape`
    for dim in sorted(range(x.ndim), key=lambda d: (x.stride(d), d)):
        stride = x.stride(dim)
        if stride > 1:
            strides[dim] = products.get(stride, stride)
        products.setdefault(x.shape[dim] * stride, shape[dim] * strides[dim])
    return strides


def is_fake(x: Any) -> bool:
    """Return True for a fake tensor."""
    return isinstance(x, Tensor) and isinstance(layer_of(x), Fake)


def device_of(x: Tensor) -> devices.device:
    """Return a tensor's device. A fake tensor has the device of the tensor that it represents."""
    layer = layer_of(x)
    return layer.device if isinstance(layer, Fake) else x.device


def plain(x: Tensor) -> Tensor:
    """Return the meta tensor of a fake tensor, or a new meta tensor with the metadata of a real tensor."""
    layer = layer_of(x)
    if isinstance(layer, Fake):
        return layer.inner
    return wrap_array(MetaArray(x.array.shape, x.array.dtype, tuple(x.array.strides)))
