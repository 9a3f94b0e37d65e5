"""CUDA devices, under the names of `torch.cuda`.

The example computes on a GPU, in a separate stream:

    if ts.cuda.is_available():
        x = ts.rand(3, device="cuda")
        with ts.cuda.stream(ts.cuda.Stream()):
            y = x.exp()
        ts.cuda.synchronize()

Queries never fail: without CuPy or a GPU, they report no devices and no memory in use. Functions that need a
device raise a RuntimeError that says what to install.
"""

from __future__ import annotations

import importlib
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ts.cuda import graphs, memory, random, streams
from ts.cuda._devices import Device, backend, usable
from ts.cuda._devices import device_index as _device_index
from ts.cuda.graphs import (
    CUDAGraph,
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
    make_graphed_callables,
)
from ts.cuda.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_max_memory_allocated,
    reset_peak_memory_stats,
)
from ts.cuda.random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from ts.cuda.streams import (
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)
from ts.unsupported import names_for

__all__ = [
    "CUDAGraph", "Event", "ExternalStream", "Stream", "StreamContext", "can_device_access_peer",
    "current_device", "current_stream", "default_stream", "device", "device_count", "device_of",
    "empty_cache", "get_device_capability", "get_device_name", "get_device_properties", "get_rng_state",
    "get_rng_state_all", "graph", "graph_pool_handle", "graphs", "init", "initial_seed", "is_available",
    "is_bf16_supported", "is_current_stream_capturing", "is_initialized", "make_graphed_callables",
    "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "mem_get_info",
    "memory", "memory_allocated", "memory_reserved", "memory_stats", "random", "reset_max_memory_allocated",
    "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_rng_state", "set_rng_state_all",
    "set_stream", "stream", "streams", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Return True if CuPy and a CUDA device are available."""
    return usable()


def is_initialized() -> bool:
    """Return True if CUDA is available. In `ts`, CUDA needs no separate initialization."""
    return usable()


def init() -> None:
    """Load the CUDA backend immediately, and not at its first use."""
    backend()


def device_count() -> int:
    """Return the number of CUDA devices, which is 0 without CuPy or a GPU."""
    return int(backend().device_count()) if usable() else 0


def current_device() -> int:
    """Return the index of the device on which this thread creates tensors."""
    return int(backend().current_device())


def set_device(device: Device) -> None:
    """Select the device on which this thread creates tensors. -1 and None have no effect."""
    index = _device_index(device)
    if index >= 0:
        backend().set_device(index)


def synchronize(device: Device = None) -> None:
    """Wait for all work queued on a device. The default is the current device."""
    index = _device_index(device)
    backend().synchronize(index)


class device:
    """Context manager that selects the current device. None has no effect."""

    def __init__(self, device: Device) -> None:
        self.idx = _device_index(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            self.prev_idx = current_device()
            set_device(self.idx)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.prev_idx >= 0:
            set_device(self.prev_idx)


class device_of(device):
    """Context manager that selects the device of a tensor. If the tensor is not on a GPU, it does nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.device if obj.is_cuda else None)


def get_device_properties(device: Device = None) -> Any:
    """Return a device's properties: `name`, `major`, `minor`, `total_memory`, `multi_processor_count` ..."""
    return backend().properties(_device_index(device))


def get_device_name(device: Device = None) -> str:
    """Return the product name of a device."""
    return str(get_device_properties(device).name)


def get_device_capability(device: Device = None) -> tuple[int, int]:
    """Return the compute capability of a device as (major, minor)."""
    about = get_device_properties(device)
    return int(about.major), int(about.minor)


def can_device_access_peer(device: Device, peer_device: Device) -> bool:
    """Return True if a device can directly read the memory of another device."""
    return bool(backend().can_access(_device_index(device), _device_index(peer_device)))


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return True if the current GPU supports bfloat16.

    Every GPU supports bfloat16 by emulation. A GPU of compute capability 8.0 or higher supports it natively.
    """
    return usable() and (including_emulation or get_device_capability() >= (8, 0))


if TYPE_CHECKING:
    from ts.cuda import amp as amp


def _find(name: str) -> Any:
    """Return a tensor type such as `ts.cuda.FloatTensor`, or a name that is imported at first use."""
    if name == "amp":
        return importlib.import_module("ts.cuda.amp")
    if name.endswith("Tensor"):
        from ts.python_api.tensor_types import CUDA

        if name in CUDA:
            return CUDA[name]
    return names_for(__name__)(name)


if not TYPE_CHECKING:  # hidden from type checkers, so that they report unknown names
    __getattr__ = _find
