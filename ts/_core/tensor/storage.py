"""Storages: the memory that a tensor and its views share.

For two tensors that share a block of memory, the results are:

    x = ts.arange(6).view(2, 3)
    y = x[1, 1:]
    y.untyped_storage().nbytes()                         48, the size of the whole block
    owning_array(y.array) is owning_array(x.array)       True: the array that owns the block
    strided(y.array, (2,), (16,), 0)                     a view with elements 0 and 2 of the block

`strided` raises RuntimeError for a view that would exceed its block.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from ts import devices, dtypes
from ts._core.late_binding import resolve
from ts._core.tensor.tensor import Tensor, backend_of, report_exposed_array, wrap_array

Array = Any  # array of any backend: numpy.ndarray, cupy.ndarray, MetaArray ...


def owning_array(array: Array) -> Array:
    """Return the array that owns the memory of `array`."""
    while True:
        base: Any = getattr(array, "base", None)
        inner = getattr(base, "base", None)
        if isinstance(base, type(array)):
            array = base
        elif type(base).__name__ == "DummyArray" and isinstance(inner, np.ndarray):
            # NumPy's `as_strided` creates an intermediate object without data: the base of the view is this
            # object, and the base of this object is the array.
            array = inner
        else:
            return array


def is_meta(array: Array) -> bool:
    """Return whether the array is a meta array, which has no memory."""
    return hasattr(array, "offset")


def address(array: Array) -> int:
    """Return the address of the first element, or 0 for meta arrays."""
    if isinstance(array, np.ndarray):
        pointer: int = array.__array_interface__["data"][0]
        return pointer
    return 0 if is_meta(array) else int(array.data.ptr)


def start(owner: Array) -> int:
    """Return the start address of the memory block that the array `owner` owns."""
    if isinstance(owner, np.ndarray) and any(step < 0 for step in owner.strides):
        return int(np.lib.array_utils.byte_bounds(owner)[0])
    return address(owner)


def offset(array: Array) -> int:
    """Return the byte offset of the first element of an array in its memory block."""
    if is_meta(array):
        elements: int = array.offset
        return elements * int(array.dtype.itemsize)
    return address(array) - start(owning_array(array))


def block(array: Array) -> Array:
    """Return the memory block of `array` as a 1-D uint8 array."""
    owner = owning_array(array)
    if is_meta(owner):
        end = offset(owner) + reach(owner.shape, owner.strides, owner.dtype.itemsize)
        return type(owner)((end,), np.uint8)
    if owner.ndim == 1 and owner.dtype == np.uint8 and owner.flags.c_contiguous:
        return owner
    if not isinstance(owner, np.ndarray):
        return type(owner)((owner.nbytes,), np.uint8, memptr=owner.data)
    if owner.size == 0:
        return np.empty(0, np.uint8)
    if owner.flags.c_contiguous:
        return owner.reshape(-1).view(np.uint8)
    if owner.flags.f_contiguous:
        return owner.T.reshape(-1).view(np.uint8)
    # Arrays of other libraries may have gaps between elements or negative strides.
    low, high = np.lib.array_utils.byte_bounds(owner)
    first = owner[tuple(0 if step >= 0 else -1 for step in owner.strides)]
    corner = owner[tuple(slice(1) if step >= 0 else slice(-1, None) for step in owner.strides)]
    assert first.ndim == 0
    return np.lib.stride_tricks.as_strided(corner.reshape(-1).view(np.uint8), (high - low,), (1,))


def reach(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> int:
    """Return the number of bytes that the elements span, including gaps. `strides` are in bytes."""
    if 0 in shape:
        return 0
    return sum((n - 1) * step for n, step in zip(shape, strides, strict=True)) + itemsize


def strided(array: Array, shape: Sequence[int], strides: Sequence[int], at: int, dtype: Any = None) -> Array:
    """Return a view of the memory block of `array`. Strides and the offset `at` are in bytes.

    Raise RuntimeError if the view exceeds the block.
    """
    target = np.dtype(array.dtype if dtype is None else dtype)
    if is_meta(array):
        return type(array)(shape, target, tuple(strides), at // target.itemsize)
    data = block(array)
    if 0 not in shape and at + reach(shape, strides, target.itemsize) > data.nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(shape)}, strides {[s // target.itemsize for s in strides]}, storage "
            f"offset {at // target.itemsize}, and itemsize {target.itemsize} requiring a storage size of "
            f"{at + reach(shape, strides, target.itemsize)} are out of bounds for storage of size "
            f"{data.nbytes}"
        )
    if isinstance(data, np.ndarray):
        if 0 in shape:
            at = min(at, data.nbytes)
        return np.ndarray(tuple(shape), target, buffer=data, offset=at, strides=tuple(strides))
    return type(data)(tuple(shape), target, memptr=data.data + at, strides=tuple(strides))


def with_strides(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    """Return a view from the first element of `array` with another shape and byte strides.

    The view must not exceed the elements of `array`, as in `expand`.
    """
    if type(array) is np.ndarray and array.dtype.kind in "fiub" and array.flags.c_contiguous and array.size:
        return np.ndarray(shape, array.dtype, array, 0, strides)
    return strided(array, shape, strides, offset(array))


def resized(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    """Return `array` with another shape and byte strides.

    New memory is allocated if its memory block is too small.

    Other tensors on the old block keep this block, while PyTorch enlarges the block for all of them.
    """
    at = offset(array)
    needed = at + reach(shape, strides, array.dtype.itemsize)
    if is_meta(array):
        return type(array)(shape, array.dtype, tuple(strides), array.offset)
    data = block(array)
    if needed > data.nbytes:
        larger = _empty(data, needed)
        larger[: data.nbytes] = data
        data = larger
    return strided(data, shape, strides, at, array.dtype)


def _empty(like: Array, nbytes: int) -> Array:
    return np.empty(nbytes, np.uint8) if isinstance(like, np.ndarray) else type(like)((nbytes,), np.uint8)


class UntypedStorage:
    """Memory that one or several tensors use, as bytes without a dtype."""

    def __init__(self, *args: Any, device: Any = None) -> None:
        where = devices.as_device(device)
        if len(args) > 1 or (args and not isinstance(args[0], (int, Sequence))):
            raise TypeError(f"UntypedStorage() takes a size or a sequence of bytes, not {args}")
        size_or_bytes = args[0] if args else 0
        host = (
            np.empty(size_or_bytes, np.uint8)
            if isinstance(size_or_bytes, int)
            else np.array(size_or_bytes, np.uint8)
        )
        self.bytes: Array = host if where.type == "cpu" else backend_of(where.type).from_host(host)

    @classmethod
    def of(cls, array: Array) -> UntypedStorage:
        """Return the storage of an array, or raise TypeError for other objects."""
        result = cls.__new__(cls)
        result.bytes = block(wrap_array(array).array)
        return result

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """Return a storage over the first `nbytes` bytes of a file, mapped into memory.

        If `shared`, writes to the storage change the file, which is created or extended if necessary.
        """
        if not isinstance(filename, str):
            raise TypeError(f"argument 1 must be str, not {type(filename).__name__}")
        result = cls.__new__(cls)
        from ts._core.shared_memory import map_path  # imported here, because few programs map files

        result.bytes = map_path(filename, operator.index(nbytes), bool(shared))
        return result

    # ---- properties

    @property
    def filename(self) -> str | None:
        """Return the path of the file mapped as the storage's shared memory, or None without such a file."""
        from ts._core.shared_memory import find_filename

        return find_filename(self.bytes) if isinstance(self.bytes, np.ndarray) else None

    @property
    def device(self) -> devices.device:
        """Device whose memory contains the bytes."""
        return wrap_array(self.bytes).device

    @property
    def is_cuda(self) -> bool:
        """True if the memory is on a CUDA device."""
        return self.device.type == "cuda"

    @property
    def _cdata(self) -> int:
        return address(self.bytes)

    is_sparse = is_sparse_csr = is_hpu = False

    def data_ptr(self) -> int:
        """Return the address of the first byte."""
        report_exposed_array(self.bytes)
        return address(self.bytes) if self.nbytes() else 0

    def nbytes(self) -> int:
        """Return the size in bytes."""
        return int(self.bytes.nbytes)

    def size(self) -> int:
        """Return the number of elements, which are bytes."""
        return self.nbytes()

    __len__ = size

    def element_size(self) -> int:
        """Return 1, the size of a byte element."""
        return 1

    def is_pinned(self, device: Any = None) -> bool:
        """Return False, because page-locked memory is unsupported."""
        return False

    def is_shared(self) -> bool:
        """Return whether other processes can access the memory: it is a mapped file or GPU memory."""
        from ts._core.shared_memory import is_shared_array

        array = self.bytes
        return is_shared_array(array) if isinstance(array, np.ndarray) else not is_meta(array)

    def share_memory_(self) -> UntypedStorage:
        """Move the bytes to shared memory, for all tensors that use them."""
        resolve("shared_storage").share_memory([self])
        return self

    @classmethod
    def _new_shared(cls, size: int, *, device: Any = "cpu") -> UntypedStorage:
        if devices.as_device(device).type != "cpu":
            return cls(size, device=device)
        result: UntypedStorage = resolve("shared_storage").create_shared_storage(size)
        return result

    def __repr__(self) -> str:
        lines = "".join(f" {byte}\n" for byte in self.tolist()) if self.device.type != "meta" else "...\n"
        return f"{lines}[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int, int]:
        return (address(self.bytes), self.nbytes()) if self.nbytes() else (id(self), 0)

    # ---- elements

    def __getitem__(self, index: Any) -> Any:
        item = self.bytes[index]
        return UntypedStorage.of(item.copy()) if isinstance(index, slice) else int(item)

    def __setitem__(self, index: Any, value: int) -> None:
        self.bytes[index] = value

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """Return the bytes as ints."""
        numbers: list[int] = wrap_array(self.bytes)._host().tolist()
        return numbers

    def fill_(self, value: int) -> UntypedStorage:
        """Set all bytes to `value`, and return the storage."""
        self.bytes[...] = value
        return self

    def copy_(self, source: UntypedStorage, non_blocking: bool = False) -> UntypedStorage:
        """Copy the bytes of a storage of equal size."""
        if source.nbytes() != self.nbytes():
            raise RuntimeError("size mismatch")
        wrap_array(self.bytes).copy_(wrap_array(source.bytes))
        return self

    def clone(self) -> UntypedStorage:
        """Return a copy of the storage."""
        return UntypedStorage.of(self.bytes.copy())

    def cpu(self) -> UntypedStorage:
        """Return a copy of the storage in host memory, or the storage itself if it is in host memory."""
        return self if self.device.type == "cpu" else UntypedStorage.of(wrap_array(self.bytes).cpu().array)

    def __deepcopy__(self, memo: dict[int, Any]) -> UntypedStorage:
        result: UntypedStorage = memo.setdefault(id(owning_array(self.bytes)), self.clone())
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return resolve("shared_storage").reduce_unregistered(self) or self._reduce_by_value()

    def _reduce_by_value(self) -> tuple[Any, ...]:
        return _storage_of, (owning_array(self.bytes),)


def _storage_of(array: Array) -> UntypedStorage:
    return UntypedStorage.of(array)


class TypedStorage:
    """A storage with a dtype, PyTorch's deprecated predecessor of `UntypedStorage`."""

    def __init__(self, storage: UntypedStorage, dtype: dtypes.dtype) -> None:
        self._untyped_storage = storage
        self.dtype = dtype

    @classmethod
    def from_file(cls, filename: str, shared: bool, size: int) -> TypedStorage:
        """Raise RuntimeError: only `UntypedStorage` and subclasses such as `FloatStorage` can map files."""
        raise RuntimeError("from_file can only be called on derived classes")

    @property
    def filename(self) -> str | None:
        """Return the path of the file mapped as the storage's shared memory, or None without such a file."""
        return self._untyped_storage.filename

    def untyped(self) -> UntypedStorage:
        """Return the storage without its dtype."""
        return self._untyped_storage

    @property
    def device(self) -> devices.device:
        """Device whose memory contains the elements."""
        return self._untyped_storage.device

    is_sparse = False

    @property
    def is_cuda(self) -> bool:
        """True if the elements are on a CUDA device."""
        return self._untyped_storage.is_cuda

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    def type(self) -> str:
        """Return PyTorch's type name, such as `torch.FloatStorage`."""
        return f"torch.{TYPE_NAMES[self.dtype]}Storage"

    def _to(self, dtype: dtypes.dtype) -> TypedStorage:
        """Return the storage converted to `dtype`, or the storage itself if it has this dtype."""
        if dtype is self.dtype:
            return self
        return TypedStorage(UntypedStorage.of(self._elements().to(dtype).array), dtype)

    def fill_(self, value: Any) -> TypedStorage:
        """Set all elements to `value`, and return the storage."""
        self._elements()[...] = value
        return self

    def clone(self) -> TypedStorage:
        """Return a copy of the storage with its dtype."""
        return TypedStorage(self._untyped_storage.clone(), self.dtype)

    def copy_(self, source: TypedStorage, non_blocking: bool = False) -> TypedStorage:
        """Copy elements from a storage of equal size, converting dtypes."""
        if source.size() != self.size():
            raise RuntimeError("size mismatch")
        self._elements().copy_(source._elements())
        return self

    def cpu(self) -> TypedStorage:
        """Return a copy of the storage in host memory, or the storage itself if it is in host memory."""
        return self if self.device.type == "cpu" else TypedStorage(self._untyped_storage.cpu(), self.dtype)

    def is_shared(self) -> bool:
        """Return whether the memory is shared with other processes."""
        return self._untyped_storage.is_shared()

    def share_memory_(self) -> TypedStorage:
        """Move the elements to shared memory, for all tensors that use them."""
        self._untyped_storage.share_memory_()
        return self

    def __repr__(self) -> str:
        lines = "".join(f" {value}\n" for value in self.tolist()) if self.device.type != "meta" else "...\n"
        what = f"dtype={self.dtype}, device={self.device}"
        return f"{lines}[torch.storage.TypedStorage({what}) of size {self.size()}]"

    def _elements(self) -> Tensor:
        return wrap_array(self._untyped_storage.bytes.view(self.dtype.numpy_dtype))

    def __getitem__(self, index: Any) -> Any:
        item = self._elements()[index]
        return item.tolist() if isinstance(index, slice) else item.item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._elements()[index] = value

    def tolist(self) -> list[Any]:
        """Return the elements as Python numbers."""
        result: list[Any] = self._elements().tolist()
        return result

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def nbytes(self) -> int:
        """Return the size in bytes."""
        count: int = self._untyped_storage.nbytes()
        return count

    def size(self) -> int:
        """Return the number of elements."""
        count: int = self.nbytes() // self.dtype.itemsize
        return count

    __len__ = size

    def element_size(self) -> int:
        """Return the size of an element in bytes."""
        size: int = self.dtype.itemsize
        return size

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return self._untyped_storage.data_ptr()


TYPE_NAMES: Final[dict[dtypes.dtype, str]] = {d: d.type_name for d in dtypes.ALL if d.has_storage_class}


def _conversion(dtype: dtypes.dtype) -> Any:
    def convert(self: TypedStorage) -> TypedStorage:
        return self._to(dtype)

    convert.__doc__ = f"The elements as {dtype}."
    return convert


for _dtype, _name in TYPE_NAMES.items():
    setattr(TypedStorage, _name.lower().replace("complex", "complex_"), _conversion(_dtype))


def typed(x: Tensor) -> TypedStorage:
    """Return `x.storage()` as a TypedStorage, with PyTorch's deprecation warning."""
    warnings.warn(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only "
        "storage class. This should only matter to you if you are using storages directly.  To access "
        "UntypedStorage directly, use tensor.untyped_storage() instead of tensor.storage()",
        stacklevel=2,
    )
    return TypedStorage(UntypedStorage.of(x.array), x.dtype)


def is_storage(x: object) -> bool:
    """Return whether `x` is a storage."""
    return isinstance(x, UntypedStorage | TypedStorage)
