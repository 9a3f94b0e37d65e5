"""Grouping of tensors by device and dtype, and PyTorch's lists of device types with `_foreach_` kernels."""

from __future__ import annotations

from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.unsupported import names_for

__getattr__ = names_for(__name__)
TensorLists = list[list[Tensor | None]]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Return the device types for which PyTorch has kernels of `_foreach_` operators."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """Return the device types for which PyTorch has fused optimizer steps."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: TensorLists, with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[TensorLists, list[int]]]:
    """Group the tensors of parallel lists.

    The device and dtype of a tensor in the first list determine its group. Tensors of other lists at the same
    index are in the same group.

    Return {(device, dtype): (lists, indices)}. `indices` are the indices of the group's tensors in the given
    lists. Without `with_indices`, `indices` is empty.
    """
    groups: dict[tuple[Any, Any], tuple[TensorLists, list[int]]] = {}
    first = tensorlistlist[0] if tensorlistlist else []
    for index, tensor in enumerate(first):
        if tensor is None:
            raise RuntimeError("the first list may not contain None")
        columns, indices = groups.setdefault(
            (tensor.device, tensor.dtype), ([[] for _ in tensorlistlist], [])
        )
        for column, tensors in zip(columns, tensorlistlist, strict=True):
            if tensors:
                column.append(tensors[index])
        if with_indices:
            indices.append(index)
    return groups
