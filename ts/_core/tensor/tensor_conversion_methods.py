"""Tensor methods for legacy type names, Python values and unsupported tensor kinds.

Examples:

    x.type(), x.type("torch.DoubleTensor")       PyTorch's legacy type names
    x.tolist(), f"{x.sum():.2f}"                 Python values
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ts import dtypes
from ts._core.tensor import conversions, factories
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import layer_of, tensor_with_memory
from ts._core.tensor.tensor_type import define_methods
from ts._core.thread import deadline
from ts._core.thread.context import current_tracer

if TYPE_CHECKING:
    from numpy.typing import NDArray


def type_name(dtype: dtypes.dtype, device_type: str) -> str:
    """Return PyTorch's legacy name of a tensor type, such as "torch.FloatTensor"."""
    prefix = "torch." if device_type == "cpu" else f"torch.{device_type}."
    return f"{prefix}{dtype.type_name}Tensor"


def type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Return PyTorch's legacy type name of the tensor, or the tensor converted to `dtype` if it is given."""
    if dtype is None:
        named = type_name(self.dtype, self.device.type)
        return named if self.layout is dtypes.strided else named.replace("torch.", f"torch.{_kind(self)}.")
    if dtype == "torch.Tensor" or dtype is Tensor:
        dtype = dtypes.get_default_dtype()
    if isinstance(dtype, str):
        for device_type in ("cpu", "cuda"):
            for d in dtypes.ALL:
                if dtype == type_name(d, device_type):
                    return self.to(device_type, d)
        raise ValueError(f"invalid type: '{dtype}'")
    if isinstance(dtype, dtypes.dtype):
        return self.to(dtype)
    if not hasattr(dtype, "device_type"):
        raise TypeError("dtype must be a type, str, or dtype object")
    return self.to(dtype.device_type, dtype.dtype)


def _kind(x: Tensor) -> str:
    """Return the layout in the type name of a sparse tensor: "sparse" or "sparse_csr"."""
    return str(x.layout).removeprefix("torch.").removesuffix("_coo")


def tolist(self: Tensor) -> Any:
    """Return the elements as nested lists of Python numbers."""
    tracer = current_tracer()
    if tracer is not None:
        if (result := tracer.record_tolist(self)) is not None:
            return result
        tracer.record_escape(self, "list", None)
    if self.layout is not dtypes.strided:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
    layer = layer_of(self)
    if layer is not None and layer.dispatches:
        raise RuntimeError(f".tolist() is not supported for tensor subclasses, got {self.__class__.__name__}")
    host = self._host()
    if self.dtype.is_of_ml_dtypes:
        host = conversions.cast_elements(host, self.dtype.compute.numpy_dtype)
    return _listed(host)


# Number of elements that `tolist` converts before it checks the deadline again. The number is rounded down to
# whole rows.
_CHUNK_ELEMENTS: Final = 1 << 14
_NUMBER_NS: Final = 10.0  # lower bound of the time to convert a number, in ns
# kind of a NumPy dtype -> size in bytes of a Python number of this kind, including its slot in a list
_BYTES: Final = {"f": 32, "c": 40, "i": 40, "u": 40, "b": 8}
_SMALL_INT_BYTES: Final = 8  # size of a list slot. Python has preallocated the ints from -5 to 256.


def _listed(a: NDArray[Any]) -> Any:
    """Return `a.tolist()`.

    A large array is converted in chunks, and limits are checked between the chunks.
    """
    if a.size <= _CHUNK_ELEMENTS or not deadline.is_limited():
        return a.tolist()
    row = a.size // len(a)
    if row > _CHUNK_ELEMENTS:
        return [_listed(chunk) for chunk in a]
    result: list[Any] = []
    rows = _CHUNK_ELEMENTS // row
    for start in range(0, len(a), rows):
        chunk = a[start : start + rows]
        deadline.charge(_NUMBER_NS * chunk.size, bytes=_bytes_of(chunk))
        result += chunk.tolist()
    return result


def _bytes_of(a: NDArray[Any]) -> int:
    """Return the size in bytes of lists that contain the elements of an array as Python numbers."""
    small = a.dtype.kind in "iu" and a.min() >= -5 and a.max() <= 256
    return int(a.size) * (_SMALL_INT_BYTES if small else _BYTES.get(a.dtype.kind, _SMALL_INT_BYTES))


def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Return a copy of `data`, by default with the dtype and device of this tensor."""
    return factories.new_copy(
        data, dtype or self.dtype, device or self.device, requires_grad, pin_memory, "new_tensor"
    )


def new(self: Tensor, *args: Any, device: Any = None, **options: Any) -> Tensor:
    """Return `Tensor(*args)` with the dtype and device of this tensor."""
    args = factories.positional_arguments(args, options)
    if len(args) == 1 and isinstance(args[0], Tensor):
        if device is not None:
            raise RuntimeError(
                "Legacy tensor new of the form tensor.new(tensor, device=device) is not supported.  Use "
                "torch.as_tensor(...) instead."
            )
        return factories.legacy(args, None, self.dtype)
    return factories.legacy(args, device or self.device, self.dtype)


def resize(self: Tensor, *sizes: Any) -> Tensor:
    """Return the tensor reshaped to `sizes`, which must have the same number of elements. Deprecated."""
    warnings.warn("non-inplace resize is deprecated", stacklevel=2)
    return _resized(self, sizes)


def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """Return the tensor reshaped to the shape of `tensor`, which must have the same number of elements.

    Deprecated.
    """
    warnings.warn("non-inplace resize_as is deprecated", stacklevel=2)
    return _resized(self, tuple(tensor.shape))


def _resized(x: Tensor, sizes: tuple[Any, ...]) -> Tensor:
    are_counts = all(isinstance(size, int) for size in sizes)
    if not are_counts or math.prod(sizes) != x.numel() or any(size < 0 for size in sizes):
        count = math.prod(sizes) if are_counts else "*".join(map(str, sizes))
        own = "x".join(map(str, x.shape))
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, sizes))} ({count} elements in total), but the given "
            f"tensor has a size of {own} ({x.numel()} elements). autograd's resize can only change the shape "
            "of a given tensor, while preserving the number of elements. "
        )
    return x.contiguous().view(sizes)  # type: ignore[no-any-return]


def _applied(name: str, count: int) -> Callable[..., Tensor]:
    def method(self: Tensor, *args: Any) -> Tensor:
        *others, function = args
        if self.device.type != "cpu":
            raise TypeError(f"{name} is only implemented on CPU tensors")
        if len(others) != count or not callable(function):
            raise TypeError(f"{name}() expects {count} tensors and a function with {count + 1} parameters")
        if self.requires_grad:
            raise RuntimeError(
                f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
            )
        for x in others:
            if x.dtype is not self.dtype:
                expected_type, actual_type = type_name(self.dtype, "cpu"), type_name(x.dtype, x.device.type)
                raise TypeError(f"{name}: expected {expected_type} for 'other' (got {actual_type})")
        sources = [tensor_with_memory(x) for x in (self, *others)]
        lists = [conversions.expanded(x, self.shape)._host() for x in sources]
        for index in np.ndindex(*self.shape):
            self[index] = function(*[x[index].item() for x in lists])
        return self

    method.__name__ = name
    return method


def __format__(self: Tensor, spec: str) -> str:
    if self.ndim == 0 and not self.is_meta:
        return format(self._element(), spec)
    return object.__format__(self, spec)


def _repr_html_(self: Tensor) -> str:
    """Return HTML for notebooks: shape, dtype and device above the text of the tensor."""
    import html

    shape = " x ".join(map(str, self.shape)) or "one element"
    gradient_note = ", requires grad" if self.requires_grad else ""
    summary = html.escape(f"{shape}, {str(self.dtype).removeprefix('torch.')}, {self.device}{gradient_note}")
    return f'<div class="ts-tensor"><small>{summary}</small><pre>{html.escape(repr(self))}</pre></div>'


def _itself(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    return self


def _no(self: Tensor, *args: Any) -> bool:
    return False


# Attributes that are False for every tensor. They stand for kinds of tensors that `ts` does not have:
# quantized tensors, nested tensors, and tensors on devices of other libraries.
_NEVER = (
    "is_quantized", "is_mkldnn", "is_nested", "is_vulkan", "is_mps", "is_xla",
    "is_xpu", "is_ipu", "is_mtia", "is_maia", "retains_grad",
)  # fmt: skip
_NEVER_METHODS = (
    "is_conj", "is_neg", "is_distributed", "has_names",
)  # fmt: skip

define_methods(
    {
        "type": type,
        "tolist": tolist,
        "new_tensor": new_tensor,
        "new": new,
        "resize": resize,
        "resize_as": resize_as,
        "apply_": _applied("apply_", 0),
        "map_": _applied("map_", 1),
        "map2_": _applied("map2_", 2),
        "__format__": __format__,
        "_repr_html_": _repr_html_,
        "name": property(lambda self: None),
        "names": property(lambda self: (None,) * self.ndim),
    }
    | {name: property(_no) for name in _NEVER}
    | dict.fromkeys(_NEVER_METHODS, _no)
)
