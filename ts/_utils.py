"""PyTorch's private module `torch._utils`, with the helpers that other packages use.

In the example, tensors are concatenated to a flat tensor, and restored:

>>> flat = _flatten_dense_tensors([ts.ones(2), ts.zeros(1, 2)])
>>> [t.shape for t in _unflatten_dense_tensors(flat, [ts.ones(2), ts.zeros(1, 2)])]
[torch.Size([2]), torch.Size([1, 2])]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.python_api.files import get_device_module

__all__ = [
    "_element_size", "_flatten_dense_tensors", "_get_all_device_indices", "_get_available_device_type",
    "_get_device_index", "_import_dotted_name", "_reorder_tensors_as", "_take_tensors",
    "_unflatten_dense_tensors",
]  # fmt: skip


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenate the elements of tensors of one dtype to a 1-d tensor."""
    return ts.cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return views of a flat tensor with the shapes of `tensors`."""
    outputs, offset = [], 0
    for tensor in tensors:
        count = tensor.numel()
        outputs.append(flat.narrow(0, offset, count).view(tensor.shape))
        offset += count
    return tuple(outputs)


def _element_size(dtype: Any) -> int:
    """Return the element size of a dtype in bytes."""
    return int(dtype.itemsize)


def _take_tensors(tensors: Sequence[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Group tensors by type, and yield lists of tensors of one type with at most `size_limit` bytes per list.

    A tensor that is larger than `size_limit` gets a list of its own.
    """
    groups: dict[str, list[Tensor]] = defaultdict(list)
    sizes: dict[str, int] = defaultdict(int)
    for tensor in tensors:
        kind = tensor.type()
        size = tensor.numel() * tensor.element_size()
        if groups[kind] and sizes[kind] + size > size_limit:
            yield groups[kind]
            groups[kind], sizes[kind] = [], 0
        groups[kind].append(tensor)
        sizes[kind] += size
    yield from (group for group in groups.values() if group)


def _reorder_tensors_as(tensors: Sequence[Tensor], ordered_tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Reorder `tensors` by type, so that they have the same sequence of types as `ordered_tensors`."""
    by_type: dict[str, list[Tensor]] = defaultdict(list)
    for tensor in tensors:
        by_type[tensor.type()].append(tensor)
    iterators = {kind: iter(group) for kind, group in by_type.items()}
    return tuple(next(iterators[tensor.type()]) for tensor in ordered_tensors)


def _get_available_device_type() -> str | None:
    """Return the type of accelerator devices, or None."""
    return "cuda" if ts.cuda.is_available() else None


def _get_all_device_indices() -> list[int] | None:
    """Return the indices of all accelerator devices, or None."""
    return list(range(ts.cuda.device_count())) if ts.cuda.is_available() else None


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """Return the index of a device. If `allow_cpu` is True, return -1 for the CPU.

    With `optional`, None or a device without an index stands for the current device. Without `optional`, both
    raise ValueError.
    """
    if isinstance(device, str):
        device = ts.device(device)
    index = device if isinstance(device, int) else None
    if isinstance(device, ts.device):
        if not allow_cpu and device.type == "cpu":
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        index = -1 if device.type == "cpu" else device.index
    if index is not None:
        return index
    if optional:
        return ts.cuda.current_device() if ts.cuda.is_available() else None  # type: ignore[return-value]
    raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")


def _get_device_module(device: Any) -> Any:
    """Return the module of a device type, such as `ts.cuda`."""
    return get_device_module(device)


def _is_alias_of(first: Tensor, second: Tensor) -> bool:
    """Return True if two tensors share a storage."""
    return first.untyped_storage()._cdata == second.untyped_storage()._cdata


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Tensor:
    """Return a tensor that is a view of a typed storage."""
    tensor: Tensor = ts.empty(0, dtype=storage.dtype, device=storage.device)
    return tensor.set_(storage, storage_offset, tuple(size), tuple(stride))


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """Return a tensor that is a view of a storage. Pickles of tensors call this function."""
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    tensor.requires_grad_(bool(requires_grad))
    return tensor


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Tensor:
    """Return a parameter. Pickles of parameters call this function."""
    return ts.nn.Parameter(data, requires_grad)


def _import_dotted_name(name: str) -> Any:
    """Import an object by a dotted name such as `os.path.join`."""
    first, *others = name.split(".")
    target = __import__(first)
    for component in others:
        target = getattr(target, component)
    return target
