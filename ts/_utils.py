"""PyTorch's private module of helpers, as far as programs use it.

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

__all__ = [
    "_element_size", "_flatten_dense_tensors", "_get_all_device_indices", "_get_available_device_type",
    "_get_device_index", "_import_dotted_name", "_reorder_tensors_as", "_take_tensors",
    "_unflatten_dense_tensors",
]  # fmt: skip


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """Return one tensor of one dimension with the elements of all tensors, which have one dtype."""
    return ts.cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return views of a flat tensor, in the shapes of the tensors."""
    outputs, offset = [], 0
    for tensor in tensors:
        count = tensor.numel()
        outputs.append(flat.narrow(0, offset, count).view(tensor.shape))
        offset += count
    return tuple(outputs)


def _element_size(dtype: Any) -> int:
    """Return the bytes of an element of a dtype."""
    return int(dtype.itemsize)


def _take_tensors(tensors: Sequence[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Yield groups of tensors of one type, of at most `size_limit` bytes unless one tensor has more."""
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
    """Return the tensors in the order of types that other tensors have."""
    by_type: dict[str, list[Tensor]] = defaultdict(list)
    for tensor in tensors:
        by_type[tensor.type()].append(tensor)
    iterators = {kind: iter(group) for kind, group in by_type.items()}
    return tuple(next(iterators[tensor.type()]) for tensor in ordered_tensors)


def _get_available_device_type() -> str | None:
    """Return the type of the devices beside the CPU; None if there are none."""
    return "cuda" if ts.cuda.is_available() else None


def _get_all_device_indices() -> list[int] | None:
    """Return the indices of all devices beside the CPU; None if there are none."""
    return list(range(ts.cuda.device_count())) if ts.cuda.is_available() else None


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """Return the index of a device, -1 for the CPU if it is allowed.

    A device without an index, and None, are the current one if `optional`; ValueError if not.
    """
    if isinstance(device, str):
        device = ts.device(device)
    found = device if isinstance(device, int) else None
    if isinstance(device, ts.device):
        if not allow_cpu and device.type == "cpu":
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        found = -1 if device.type == "cpu" else device.index
    if found is not None:
        return found
    if optional:
        return ts.cuda.current_device() if ts.cuda.is_available() else None  # type: ignore[return-value]
    raise ValueError(
        f"Expected a torch.device with a specified index or an integer, but got:{device}"
    )


def _import_dotted_name(name: str) -> Any:
    """Return an object by its name with the modules that it is in: `os.path.join`."""
    first, *others = name.split(".")
    found = __import__(first)
    for part in others:
        found = getattr(found, part)
    return found
