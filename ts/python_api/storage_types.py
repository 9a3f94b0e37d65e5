"""Deprecated storage types such as `FloatStorage`, which create a `TypedStorage` of one dtype.

The right column describes the result of each expression:

    ts.IntStorage([1, 2]).float().tolist()         [1.0, 2.0]
    ts.ShortStorage.from_buffer(data, "big")       storage of the numbers in big-endian bytes
    isinstance(x.storage(), ts.FloatStorage)       True if the dtype is float32
"""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np

from ts import dtypes
from ts._core.tensor import factories
from ts._core.tensor.storage import TYPE_NAMES, TypedStorage, UntypedStorage

_ORDERS: Final = {"native": sys.byteorder, "big": "big", "little": "little"}


class StorageType:
    """Storage class for one dtype on the CPU, such as `torch.FloatStorage`."""

    def __init__(self, dtype: dtypes.dtype, name: str) -> None:
        self.dtype: Final = dtype
        self.__module__, self.__name__ = "torch", name
        self.__qualname__ = name

    def __repr__(self) -> str:
        return f"<class 'torch.{self.__name__}'>"

    def __instancecheck__(self, instance: object) -> bool:
        return (
            isinstance(instance, TypedStorage)
            and instance.dtype is self.dtype
            and instance.device.type == "cpu"
        )

    def __call__(self, values: Any = 0) -> TypedStorage:
        """Return an uninitialized storage with `values` elements, or a storage with the given values."""
        if isinstance(values, UntypedStorage):
            return TypedStorage(values, self.dtype)
        if isinstance(values, int):
            return TypedStorage(UntypedStorage(values * self.dtype.itemsize), self.dtype)
        array = factories.tensor(values, dtype=self.dtype).array
        return TypedStorage(UntypedStorage.of(array), self.dtype)

    def from_file(self, filename: str, shared: bool, size: int) -> TypedStorage:
        """Return a storage over the first `size` elements of a file (see `UntypedStorage.from_file`)."""
        untyped = UntypedStorage.from_file(filename, shared, size * self.dtype.itemsize)
        return TypedStorage(untyped, self.dtype)

    def from_buffer(
        self, buffer: Any, byte_order: str | None = None, offset: int = 0, count: int = -1
    ) -> TypedStorage:
        """Return a storage with numbers of a byte buffer.

        All dtypes except uint8 and int8 need `byte_order`.
        """
        size = self.dtype.itemsize
        if byte_order is None and self.dtype not in (dtypes.uint8, dtypes.int8):
            raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
        order = _ORDERS.get(byte_order or "native")
        if order is None:
            raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
        try:
            data = memoryview(buffer).cast("B")
        except TypeError:
            raise TypeError(f"a bytes-like object is required, not '{type(buffer).__name__}'") from None
        available_bytes = len(data) - offset
        if offset < 0 or available_bytes < 0:
            raise ValueError(
                f"offset must be non-negative and no greater than buffer length ({len(data)}) , but got "
                f"{offset}"
            )
        if count < 0 and available_bytes % size:
            raise ValueError(f"buffer size ({len(data)}) must be a multiple of element size ({size})")
        element_count = available_bytes // size if count < 0 else count
        if element_count * size > available_bytes:
            raise ValueError(
                f"buffer has only {available_bytes // size} elements after offset {offset}, but specified a "
                f"size of {element_count}"
            )
        elements = np.frombuffer(data, np.uint8, element_count * size, offset)
        if self.dtype is dtypes.bool_:
            elements = elements != 0
        elif order != sys.byteorder:
            unit = size // 2 if self.dtype.is_complex else size
            elements = elements.reshape(-1, unit)[:, ::-1]
        return TypedStorage(UntypedStorage.of(np.array(elements).reshape(-1).view(np.uint8)), self.dtype)


_TYPES: Final = {f"{name}Storage": StorageType(dtype, f"{name}Storage") for dtype, name in TYPE_NAMES.items()}


def __getattr__(name: str) -> StorageType:
    if name == "Storage":
        return next(kind for kind in _TYPES.values() if kind.dtype is dtypes.get_default_dtype())
    if name in _TYPES:
        return _TYPES[name]
    raise AttributeError(f"module 'ts.python_api.storage_types' has no attribute '{name}'")
