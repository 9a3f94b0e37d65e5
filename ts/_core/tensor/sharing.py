"""Move the memory of tensors to shared memory, and pickle tensors for other processes.

Example:

    x = ts.zeros(4)
    y = x[2:]
    x.share_memory_()                           # y is still a view of x
    os.fork()                                   # the parent process sees writes of the child to x

A storage is the array that owns the memory of one or several tensors. When a storage is moved, each of its
tensors gets an array in the new memory. Reference counts can show that other tensors may use the storage.
Then these tensors are searched among all objects that the garbage collector tracks.

Pickles of `multiprocessing` (queues, pipes, arguments of processes) contain a file mapping and an offset
instead of elements. In the receiver, tensors of one storage share memory, even if they arrive in separate
messages.
"""

from __future__ import annotations

import gc
import pickle
import sys
import threading
import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from ts import dtypes
from ts._core import shared_memory
from ts._core.shared_memory import ALIGNMENT_BYTES, Mapping
from ts._core.tensor import storage
from ts._core.tensor.storage import TypedStorage, UntypedStorage
from ts._core.tensor.tensor import Tensor, rebind_array, report_exposed_array, wrap_array
from ts._core.tensor.tensor_metadata import layer_of

STRATEGIES: Final = {"file_descriptor", "file_system"} if hasattr(sys, "abiflags") else {"file_system"}
_strategy = "file_descriptor" if sys.platform == "linux" else "file_system"


def get_strategy() -> str:
    """Return the sharing strategy, which determines how other processes open new shared memory."""
    return _strategy


def set_strategy(name: str) -> None:
    """Set the sharing strategy: "file_descriptor" (unnamed files) or "file_system" (named files)."""
    global _strategy
    if name not in STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {name}, expected one of {sorted(STRATEGIES)}")
    _strategy = name


# ---------------------------------------------------------------- moving storages


def share_memory(values: Sequence[Tensor | UntypedStorage], sendable: bool = False) -> None:
    """Move the memory of tensors and storages to one shared file.

    Memory that is already shared is not moved.

    If `sendable`, also move shared memory that a pickle cannot identify. Examples are files that other code
    has mapped, and a `DataLoader` batch, whose memory its worker overwrites later.
    """
    owners: dict[int, Any] = {}
    has_views = False
    for value in values:
        array = value.array if isinstance(value, Tensor) else value.bytes
        if storage.is_meta(array):
            raise RuntimeError("_share_fd_: only available on CPU")
        if not isinstance(array, np.ndarray) or shared_memory.find_mapping(array):
            continue
        if not sendable and shared_memory.is_shared_array(array):
            continue
        owner = storage.owning_array(array)
        has_views = has_views or id(owner) in owners or _may_have_views(value)
        owners[id(owner)] = owner
        del array, owner
    if owners:
        _move_blocks(list(owners.values()), _find_holders(owners) if has_views else values)


def _may_have_views(value: Tensor | UntypedStorage) -> bool:
    """Return whether, according to reference counts, other tensors may share the memory of `value`."""
    if not isinstance(value, Tensor):
        return True
    counts = _reference_counts(value)
    global _counts_of_owner, _counts_of_view
    if _counts_of_owner is None:
        sample = wrap_array(np.empty(1))
        _counts_of_owner = _reference_counts(sample)
        _counts_of_view = _reference_counts(wrap_array(np.empty(1)[:]))
        assert sample.nbytes
    return counts != _counts_of_owner and counts != _counts_of_view


# result of `_reference_counts` for a tensor whose array owns its memory, if nothing else refers to the array
_counts_of_owner: tuple[bool, int, int] | None = None
# result of `_reference_counts` for a tensor whose array is a view of another array, if nothing else refers to
# these two arrays
_counts_of_view: tuple[bool, int, int] | None = None


def _reference_counts(x: Tensor) -> tuple[bool, int, int]:
    array = x.array
    owner = storage.owning_array(array)
    return owner is array, sys.getrefcount(array), sys.getrefcount(owner)


def _find_holders(owners: dict[int, Any]) -> list[Tensor | UntypedStorage]:
    """Return all live tensors and storages whose memory belongs to one of the arrays `owners`."""
    holders: list[Tensor | UntypedStorage] = []
    for each in gc.get_objects():
        kind = type(each)
        if issubclass(kind, Tensor):
            if isinstance(each.array, np.ndarray) and id(storage.owning_array(each.array)) in owners:
                holders.append(each)
        elif (
            issubclass(kind, UntypedStorage)
            and id(storage.owning_array(getattr(each, "bytes", None))) in owners
        ):
            holders.append(each)
    return holders


def _move_blocks(owners: Sequence[Any], holders: Sequence[Tensor | UntypedStorage]) -> None:
    """Copy the memory of `owners` to a new shared file, and make `holders` (tensors and storages) use it."""
    blocks = [storage.block(owner) for owner in owners]
    offsets, end = [], 0
    for block in blocks:
        offsets.append(end)
        end += -(-block.nbytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
    mapping = shared_memory.create_mapping(end, named=_strategy == "file_system")
    targets: dict[int, Any] = {}
    for owner, block, offset in zip(owners, blocks, offsets, strict=True):
        target = _block_of(mapping, offset, block.nbytes)
        target[:] = block
        targets[id(owner)] = target
    for each in holders:
        if isinstance(each, Tensor):
            array = each.array
            target = targets.get(id(storage.owning_array(array)))
            if target is not None:
                offset = storage.offset(array)
                rebind_array(each, storage.strided(target, array.shape, array.strides, offset, array.dtype))
        else:
            each.bytes = targets.get(id(storage.owning_array(each.bytes)), each.bytes)
    for target in targets.values():
        report_exposed_array(target)


def share_tensor(self: Tensor) -> Tensor:
    """Move the storage of the tensor to shared memory (`Tensor.share_memory_`)."""
    layer = layer_of(self)
    if layer is not None:
        layer.check_elements()
    share_memory([self])
    return self


def create_shared_storage(size: int) -> UntypedStorage:
    """Return a new storage of `size` bytes in shared memory."""
    mapping = shared_memory.create_mapping(size, named=_strategy == "file_system")
    return UntypedStorage.of(_block_of(mapping, 0, size))


# ---------------------------------------------------------------- cache of blocks of mapped files

_lock = threading.Lock()
_mappings: weakref.WeakValueDictionary[tuple[int, int], Mapping] = weakref.WeakValueDictionary()
# (two numbers that identify a file, offset in the file) -> weak reference to the array over this section of
# the file
_blocks: dict[tuple[int, int, int], weakref.ref[Any]] = {}


def _block_of(mapping: Mapping, offset: int, size: int) -> Any:
    """Return an array over a section of a mapped file.

    A cache returns the same array object for the same section.
    """
    key = (*shared_memory.file_identity(mapping), offset)
    with _lock:
        block = _blocks[key]() if key in _blocks else None
        if block is None or block.nbytes != size:
            block = shared_memory.view_bytes(mapping, size, offset)
            _mappings[key[:2]] = mapping
            _blocks[key] = weakref.ref(block, partial(_forget_block, key))
    return block


def _forget_block(key: tuple[int, int, int], gone: Any) -> None:
    if _blocks.get(key) is gone:
        del _blocks[key]


def _cached_mapping(mapping: Mapping) -> Mapping:
    """Return the cached mapping of the file. If there is none, add `mapping` to the cache and return it."""
    with _lock:
        return _mappings.setdefault(shared_memory.file_identity(mapping), mapping)


# ---------------------------------------------------------------- pickles for other processes


def reduce_tensor(x: Tensor) -> tuple[Any, ...]:
    """Move the storage of a tensor to shared memory, and return the tensor's reduction for another process.

    Elements of sparse tensors and of tensors on other devices are copied to the reduction instead. Raise
    RuntimeError for a tensor with autograd history.
    """
    if x.requires_grad and not x.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not "
            "support crossing process boundaries.  If you just want to transfer the data, call detach() on "
            "the tensor before serializing (e.g., putting it on the queue)."
        )
    if x.device.type != "cpu" or layer_of(x) is not None or x.layout is not dtypes.strided:
        by_value: tuple[Any, ...] = x.__reduce_ex__(5)  # type: ignore[assignment]
        return by_value
    share_memory([x], sendable=True)
    offset = storage.offset(x.array)
    metadata = offset, tuple(x.array.shape), tuple(x.array.strides), x.requires_grad
    return rebuild_tensor, (type(x), TypedStorage(UntypedStorage.of(x.array), x.dtype), metadata)


def rebuild_tensor(
    cls: type, storage_: TypedStorage, metadata: tuple[int, tuple[int, ...], tuple[int, ...], bool]
) -> Tensor:
    """Return a tensor from its reduction. The offset and strides in `metadata` are in bytes."""
    offset, shape, strides, requires_grad = metadata
    dtype = storage_.dtype.numpy_dtype
    x = wrap_array(storage.strided(storage_.untyped().bytes, shape, strides, offset, dtype))
    if cls is not Tensor:
        return cls(x, requires_grad=requires_grad)  # type: ignore[no-any-return]
    return x.requires_grad_(requires_grad)


def reduce_storage(x: UntypedStorage) -> tuple[Any, ...]:
    """Move a storage to shared memory, and return the storage's reduction for another process."""
    if x.device.type != "cpu":
        return x.__reduce__()
    share_memory([x], sendable=True)
    mapping = shared_memory.find_mapping(x.bytes)
    assert mapping is not None
    return rebuild_storage, (type(x), *mapping, x.nbytes())


def rebuild_storage(cls: type[UntypedStorage], mapping: Mapping, offset: int, size: int) -> UntypedStorage:
    """Create a storage over `size` bytes of a mapping. Pickles of storages call this function."""
    return cls.of(_block_of(mapping, offset, size))


def reduce_typed_storage(x: TypedStorage) -> tuple[Any, ...]:
    """Return the reduction of a typed storage for another process."""
    return rebuild_typed_storage, (x.untyped(), x.dtype)


def rebuild_typed_storage(storage_: UntypedStorage, dtype: dtypes.dtype) -> TypedStorage:
    """Create a typed storage over a storage. Pickles of typed storages call this function."""
    return TypedStorage(storage_, dtype)


def reduce_mapping(mapping: Mapping) -> tuple[Any, ...]:
    """Return the reduction of a mapping: its path, or a duplicate of its descriptor."""
    if mapping.path:
        shared_memory.add_user(mapping.path)
        return rebuild_named_mapping, (mapping.path,)
    from multiprocessing.reduction import DupFd

    return rebuild_mapping, (DupFd(mapping.descriptor),)  # type: ignore[no-untyped-call]


def rebuild_mapping(descriptor: Any) -> Mapping:
    """Map the unnamed file with the given descriptor. Pickles of mappings call this function."""
    return _cached_mapping(shared_memory.map_file(descriptor.detach()))


def rebuild_named_mapping(path: str) -> Mapping:
    """Map the named file `path`. Pickles of mappings call this function."""
    return _cached_mapping(shared_memory.open_named_mapping(path))


# Tensor classes that can be sent to other processes. `rebuild_tensor` calls their constructors as cls(x,
# requires_grad=...).
_classes: list[type] = [Tensor]
_is_registered = False


def register_reductions() -> None:
    """Register reductions with `multiprocessing`, so that its pickles share the memory of tensors."""
    global _is_registered
    if _is_registered:
        return
    from multiprocessing.reduction import ForkingPickler

    _is_registered = True
    for cls in _classes:
        ForkingPickler.register(cls, reduce_tensor)
    ForkingPickler.register(UntypedStorage, reduce_storage)
    ForkingPickler.register(TypedStorage, reduce_typed_storage)
    ForkingPickler.register(Mapping, reduce_mapping)


def register_class(cls: type) -> None:
    """Register the reduction for a tensor class with a constructor `cls(x, requires_grad=...)`."""
    _classes.append(cls)
    if _is_registered:
        from multiprocessing.reduction import ForkingPickler

        ForkingPickler.register(cls, reduce_tensor)


def reduce_unregistered(x: UntypedStorage) -> tuple[Any, ...] | None:
    """Register reductions if `multiprocessing` runs the pickler, and return the reduction of a storage.

    A reduction is the result of `__reduce__`. Return None for other callers of the pickler. `ts` does not
    import `multiprocessing`, because this import is slow. Therefore, the reductions may not be registered yet
    when a program first pickles a storage.
    """
    module: Any = sys.modules.get("multiprocessing.reduction")
    if module is None:
        return None
    # Frame of the Python code that called the pickler. The pickler itself has no frame, because it is
    # implemented in C.
    caller = sys._getframe(2)
    if caller.f_code not in (module.ForkingPickler.dumps.__func__.__code__, module.dump.__code__):
        return None
    register_reductions()
    return pickle.loads, (bytes(module.ForkingPickler.dumps(x)),)


if "multiprocessing.reduction" in sys.modules:
    register_reductions()
