"""Broadcast, scatter, gather and reduce-add of tensors across the GPUs of one process (`torch.cuda.comm`).

A device is the index of a GPU. The right column describes the results:

    broadcast(x, [0, 1])            (copy on cuda:0, copy on cuda:1)
    scatter(x, [0, 1])              (first half of dim 0 on cuda:0, second half on cuda:1)
    gather([a, b], destination=0)   concatenation on cuda:0

Without a GPU, each function raises the error of a PyTorch build without CUDA.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ts._core.tensor.python_operators import operator
from ts._core.tensor.tensor import Tensor
from ts.cuda._devices import usable
from ts.cuda._utils import _get_device_index, gpu_index

Device = Any


def _require_gpu(name: str) -> None:
    """Raise the AttributeError of a PyTorch build without CUDA if there is no GPU."""
    if not usable():
        raise AttributeError(f"module 'torch._C' has no attribute '{name}'")


def _require_one(devices: Any, out: Any) -> None:
    if (devices is None) == (out is None):
        raise RuntimeError(
            f"Exactly one of 'devices' and 'out' must be specified, but got devices={devices} and out={out}"
        )


def broadcast(tensor: Tensor, devices: Any = None, *, out: Any = None) -> Any:
    """Return a tuple of copies of a tensor, one for each device, or write the copies to `out`."""
    _require_one(devices, out)
    if devices is not None:
        indices = [gpu_index(d) for d in devices]
        _require_gpu("_broadcast")
        return tuple(tensor.to(f"cuda:{i}") for i in indices)
    _require_gpu("_broadcast_out")
    return tuple(each.copy_(tensor) for each in out)


def broadcast_coalesced(
    tensors: Sequence[Tensor], devices: Sequence[Device], buffer_size: int = 10485760
) -> Any:
    """Return, for each device, the list of copies of the tensors."""
    indices = [gpu_index(d) for d in devices]
    _require_gpu("_broadcast_coalesced")
    return [[x.to(f"cuda:{i}") for x in tensors] for i in indices]


def reduce_add(inputs: Sequence[Tensor], destination: Device = None) -> Tensor:
    """Return the sum of tensors on several GPUs, on `destination` (default: the current GPU)."""
    size = inputs[0].size()
    for i, x in enumerate(inputs):
        if x.device.type == "cpu":
            raise AssertionError(f"reduce_add expects all inputs to be on GPUs, but input {i} is on CPU")
        if x.size() != size:
            actual, expected = "x".join(map(str, x.size())), "x".join(map(str, size))
            raise ValueError(f"input {i} has invalid size: got {actual}, but expected {expected}")
    index = _get_device_index(destination, optional=True)
    result = inputs[0].to(f"cuda:{index}", copy=True)
    for x in inputs[1:]:
        result += x.to(result.device)
    return result


def reduce_add_coalesced(
    inputs: Sequence[Sequence[Tensor]], destination: Device = None, buffer_size: int = 10485760
) -> tuple[Tensor, ...]:
    """Return the sums of the tensors at equal positions. `inputs` contains a list of tensors for each GPU."""
    return tuple(reduce_add(each, destination) for each in zip(*inputs, strict=True))


def scatter(
    tensor: Tensor,
    devices: Any = None,
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    streams: Any = None,
    *,
    out: Any = None,
) -> Any:
    """Split a tensor along a dimension, and return a tuple of the parts, one on each device."""
    if out is None:
        indices = [gpu_index(d) for d in devices]
        _require_gpu("_scatter")
        chunks = (
            tensor.chunk(len(indices), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
        )
        return tuple(chunk.to(f"cuda:{i}") for i, chunk in zip(indices, chunks, strict=False))
    if devices is not None:
        raise RuntimeError(
            f"'devices' must not be specified when 'out' is specified, but got devices={devices}"
        )
    if chunk_sizes is not None:
        raise RuntimeError(
            f"'chunk_sizes' must not be specified when 'out' is specified, but got chunk_sizes={chunk_sizes}"
        )
    _require_gpu("_scatter_out")
    chunks = tensor.split([each.size(dim) for each in out], dim)
    return tuple(each.copy_(chunk) for each, chunk in zip(out, chunks, strict=True))


def gather(tensors: Sequence[Tensor], dim: int = 0, destination: Device = None, *, out: Any = None) -> Tensor:
    """Return the concatenation of tensors on several GPUs, on `destination`, or write it to `out`."""
    if out is not None:
        if destination is not None:
            raise RuntimeError(
                "'destination' must not be specified when 'out' is specified, but got "
                f"destination={destination}"
            )
        _require_gpu("_gather_out")
        return out.copy_(operator("cat")([x.to(out.device) for x in tensors], dim))  # type: ignore[no-any-return]
    if destination == -1:
        warnings.warn(
            "Using -1 to represent CPU tensor is deprecated. Please use a device object or string instead, "
            'e.g., "cpu".',
            FutureWarning,
            stacklevel=2,
        )
    index = _get_device_index(destination, optional=True, allow_cpu=True)
    _require_gpu("_gather")
    device = "cpu" if index == -1 else f"cuda:{index}"
    return operator("cat")([x.to(device) for x in tensors], dim)  # type: ignore[no-any-return]
