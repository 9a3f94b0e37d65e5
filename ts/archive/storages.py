"""Storage sharing (deduplication) in archives, where several tensors can share the record of a storage.

The writer converts a tensor to a storage reference. The reader converts the reference to a tensor. Example:

    StorageWriter().storage_ref(x[1:])        TensorStorageRef("0", "FloatStorage", "cpu", 3, 1, (2,), (1,))
    view(storage, 1, (2,), (1,))              a tensor with the elements of x[1:]
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ts import dtypes
from ts._core.tensor.storage import TypedStorage, UntypedStorage
from ts._core.tensor.tensor import Tensor, wrap_array
from ts._core.tensor.tensor_metadata import check_storage
from ts.dtypes import dtype
from ts.errors import ArchiveError

_DTYPES: Final = {d: f"{d.type_name}Storage" for d in dtypes.ALL if d.has_storage_class}
_NAMES: Final[dict[str, dtype]] = {
    **{name: dtype for dtype, name in _DTYPES.items()},
    "UntypedStorage": dtypes.uint8,  # storage of tensors whose dtype has no storage class
}


class TensorStorageRef(NamedTuple):
    """Reference from a tensor to a storage: key, class, device, element count, offset, sizes and strides."""

    key: str
    storage: str  # name of the storage class, such as "FloatStorage"
    location: str
    numel: int
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]


class StorageWriter:
    """Collector of the storages of tensors. It writes a storage only once if several tensors share it."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}  # storage key -> bytes of the storage
        self._keys: dict[tuple[int, int], str] = {}
        self._references: list[object] = []  # keeps tensors alive, so that their addresses remain unique

    def storage_ref_of_storage(self, storage: UntypedStorage | TypedStorage) -> TensorStorageRef:
        """Return a reference to all elements of a storage."""
        if isinstance(storage, TypedStorage):
            return self.storage_ref(storage._elements())
        storage_ref = self.storage_ref(wrap_array(storage.bytes))
        return storage_ref._replace(storage="UntypedStorage", numel=storage.nbytes())

    def storage_ref(self, tensor: Tensor) -> TensorStorageRef:
        """Return the storage reference of a tensor. Register the storage of the tensor if it is new."""
        name = _DTYPES.get(tensor.dtype, "UntypedStorage")
        check_storage(tensor)
        if tensor.is_meta:
            raise ArchiveError("tensors on the device 'meta' have no elements to save")
        array: NDArray[Any] = tensor.cpu().array
        root = _root(array)
        start, item = _address(root), array.dtype.itemsize
        self._references.append((tensor, root))
        key = self._keys.get((start, root.nbytes))
        if key is None:
            key = self._keys[start, root.nbytes] = str(len(self._keys))
            self.arrays[key] = root.ravel(order="K").view(np.uint8)
        if not np.may_share_memory(array, root):
            array = root
        return TensorStorageRef(
            key,
            name,
            str(tensor.device),
            root.nbytes if name == "UntypedStorage" else root.nbytes // item,
            (_address(array) - start) // item,
            tuple(array.shape),
            # NumPy has strides of 0 for empty arrays, PyTorch has other strides.
            tuple(stride // item for stride in array.strides) if array.size else tensor.stride(),
        )


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _root(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array that owns the memory of the view `array`.

    Return a contiguous copy of `array` if this memory is not one block without gaps. Also return a copy if a
    stride of `array` is negative, or if a stride or the offset is not a multiple of the element size.
    """
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    item = array.dtype.itemsize
    is_block = root.size > 0 and all(stride > 0 for stride in root.strides)
    if is_block:
        low, high = np.lib.array_utils.byte_bounds(root)
        is_block = high - low == root.nbytes and (_address(array) - low) % item == root.nbytes % item == 0
    if not is_block or any(stride < 0 or stride % item for stride in array.strides):
        return array.copy(order="C")
    return root


class StorageType(NamedTuple):
    """Element type of a storage class such as `torch.FloatStorage`."""

    dtype: dtype
    # PyTorch's code of the quantized dtype, or None if the storage is not quantized
    quantized: int | None = None


# name of a quantized storage class -> (dtype of the stored integers, PyTorch's code of the quantized dtype)
QUANTIZED: Final = {
    "QInt8Storage": StorageType(dtypes.int8, 12),
    "QUInt8Storage": StorageType(dtypes.uint8, 13),
    "QInt32Storage": StorageType(dtypes.int32, 14),
    "QUInt4x2Storage": StorageType(dtypes.uint8, 16),  # two elements per byte
    "QUInt2x4Storage": StorageType(dtypes.uint8, 17),
}


def name_in_modules(d: dtype) -> str:
    """Return the name of the storage class of a dtype in module archives.

    If PyTorch has no storage class for the dtype, derive the name from the name of the scalar type.
    """
    return _DTYPES.get(d) or f"{d.type_name}Storage"


_IN_MODULES: Final = QUANTIZED | {name_in_modules(d): StorageType(d) for d in dtypes.ALL if d not in _DTYPES}


def storage_type(name: str, in_module: bool = False) -> StorageType | None:
    """Return the element type of the storage class `name`, or None for an unknown name.

    If `in_module` is False, quantized types and types without a storage class in PyTorch count as unknown.
    """
    dtype = _NAMES.get(name)
    if dtype is not None:
        return StorageType(dtype)
    return _IN_MODULES.get(name) if in_module else None


class Storage(NamedTuple):
    """Loaded storage: elements, device and PyTorch's code of the quantized dtype."""

    elements: NDArray[Any]
    location: str
    quantized: int | None = None

    def is_of(self, type: StorageType) -> bool:
        """Return whether the storage has the same dtype and quantized dtype as `type`."""
        return (self.elements.dtype, self.quantized) == (type.dtype.numpy_dtype, type.quantized)


class LoadedStorage(TypedStorage):
    """Storage loaded from a file, moved to its target device on first use."""

    def __init__(self, stored: Storage, map_to_device: Callable[[Tensor, str], Tensor]) -> None:
        self.stored = stored
        self._map_to_device = map_to_device
        self._tensor = wrap_array(stored.elements)
        self.dtype = self._tensor.dtype

    @cached_property
    def _untyped_storage(self) -> UntypedStorage:  # type: ignore[override]
        return UntypedStorage.of(self._map_to_device(self._tensor, self.stored.location).array)

    def __reduce__(self) -> tuple[Any, ...]:
        return TypedStorage, (self._untyped_storage, self.dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> TypedStorage:
        return TypedStorage(deepcopy(self._untyped_storage, memo), self.dtype)


def read_storage(data: NDArray[np.uint8], type: StorageType, numel: int, location: str) -> Storage:
    """Convert a record to a storage of `numel` elements. Raise ArchiveError if the sizes do not match."""
    dtype = type.dtype
    if len(data) != numel * dtype.itemsize:
        raise ArchiveError(
            f"a storage of {numel} elements of {dtype} must have {numel * dtype.itemsize} bytes, "
            f"found {len(data)}"
        )
    return Storage(data.view(dtype.numpy_dtype), location, type.quantized)


def view(storage: Storage, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> NDArray[Any]:
    """Return a view of a storage with the elements of a tensor. Raise ArchiveError if it is out of bounds."""
    layout_numbers = (offset, *size, *stride)
    if len(size) != len(stride) or any(type(n) is not int or n < 0 for n in layout_numbers):
        raise ArchiveError(
            "size, stride and offset of a tensor must be non-negative ints, with one stride per dimension"
        )
    elements = storage.elements
    item = elements.dtype.itemsize
    steps = [step * item for step in stride]
    if 0 in size:
        # `as_strided` fails for the dtypes of `ml_dtypes`, so it is called with the bytes of the storage
        # instead of its elements.
        anything = elements[:0].view(f"V{item}")
        return np.lib.stride_tricks.as_strided(anything, size, steps).view(elements.dtype)
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if last >= len(elements):
        raise ArchiveError(f"a tensor accesses element {last} of a storage with {len(elements)} elements")
    return np.ndarray(size, elements.dtype, elements.view(np.uint8), offset * item, steps)
