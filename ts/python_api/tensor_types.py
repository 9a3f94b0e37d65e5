"""Deprecated tensor types such as `FloatTensor`, which combine a dtype and a device type.

The right column describes the result of each call:

    ts.FloatTensor(2, 3)                     uninitialized tensor of shape (2, 3)
    ts.LongTensor([1, 2])                    tensor of the values 1 and 2
    isinstance(x, ts.cuda.FloatTensor)       True if x is a float32 tensor on a CUDA device
    x.type(ts.DoubleTensor)                  x, converted to float64

Tensor types are not classes, because every tensor is an instance of `Tensor`.
"""

from __future__ import annotations

import warnings
from typing import Any, Final, Union

from ts import backends, dtypes
from ts._core.tensor import factories
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_conversion_methods import type_name


class TensorType:
    """Tensor type for one dtype and one device type."""

    is_sparse = False
    layout = dtypes.strided

    def __init__(self, dtype: dtypes.dtype, device_type: str) -> None:
        self.dtype: Final = dtype
        self.device_type: Final = device_type
        self.__module__, _, self.__name__ = type_name(dtype, device_type).rpartition(".")
        self.__qualname__ = self.__name__

    @property
    def __ts_annotation__(self) -> str | None:
        """Text of the type in annotations of scripts, or None for CUDA types."""
        return None if self.is_cuda else "Tensor"

    @property
    def is_cuda(self) -> bool:
        """True for types of CUDA tensors."""
        return self.device_type == "cuda"

    def __repr__(self) -> str:
        return f"<class '{self.__module__}.{self.__name__}'>"

    def __or__(self, other: Any) -> Any:
        return Union.__getitem__((self, other))  # supports `LongTensor | None`

    def __ror__(self, other: Any) -> Any:
        return Union.__getitem__((other, self))

    def __instancecheck__(self, instance: object) -> bool:
        if not isinstance(instance, Tensor) or instance.layout is not dtypes.strided:
            return False
        return instance.dtype is self.dtype and instance.device.type == self.device_type

    def __call__(self, *args: Any, **options: Any) -> Tensor:
        """Return a tensor of this type from sizes or data, as PyTorch's legacy constructors do.

        Raises TypeError if a given tensor has another type.
        """
        device = options.pop("device", None)
        args = factories.positional_arguments(args, options)
        self.check_available()
        if len(args) == 1 and isinstance(args[0], Tensor) and args[0] not in self:
            actual_name = type_name(args[0].dtype, args[0].device.type)
            raise TypeError(f"expected {self.__module__}.{self.__name__} (got {actual_name})")
        factories.check_legacy_device(device, self.device_type)
        return factories.legacy(args, device or self.device_type, self.dtype)

    def __contains__(self, tensor: Tensor) -> bool:
        return self.__instancecheck__(tensor)

    def check_available(self) -> None:
        """Raise TypeError if this is a CUDA type and there is no CUDA backend."""
        if self.device_type == "cuda" and "cuda" not in backends.available():
            name = f"{self.__module__}.{self.__name__}"
            raise TypeError(f"type {name} not available. Torch not compiled with CUDA enabled.")


BY_NAME: Final = {f"{d.type_name}Tensor": d for d in dtypes.ALL if d.has_storage_class and not d.is_complex}
CPU: Final = {name: TensorType(dtype, "cpu") for name, dtype in BY_NAME.items()}
CUDA: Final = {name: TensorType(dtype, "cuda") for name, dtype in BY_NAME.items()}
_BY_FULL_NAME: Final = {f"torch.{name}": t for name, t in CPU.items()} | {
    f"torch.cuda.{name}": t for name, t in CUDA.items()
}


def set_default_tensor_type(t: Any) -> None:
    """Set the default floating-point dtype to the dtype of a tensor type."""
    warnings.warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives.",
        stacklevel=2,
    )
    tensor_type = _BY_FULL_NAME.get(t) if isinstance(t, str) else t
    if tensor_type is None:
        raise AttributeError(f"module 'torch' has no attribute '{str(t).removeprefix('torch.')}'")
    if tensor_type is Tensor:
        return
    if not isinstance(tensor_type, TensorType):
        raise TypeError("invalid type object")
    if not tensor_type.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    tensor_type.check_available()
    if tensor_type.device_type != "cpu":
        raise TypeError(
            f"{tensor_type.__module__}.{tensor_type.__name__}: new tensors are created on the CPU; "
            "give `device=`"
        )
    dtypes.set_default_dtype(tensor_type.dtype)


def __getattr__(name: str) -> TensorType:
    try:
        return CPU[name]
    except KeyError:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'") from None
