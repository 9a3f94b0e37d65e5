"""CUDA devices, under the names of `torch.cuda`.

    if ts.cuda.is_available():
        x = ts.rand(3, device="cuda")
        with ts.cuda.stream(ts.cuda.Stream()):
            y = x.exp()
        ts.cuda.synchronize()

Asking never fails: without CuPy or a GPU there are no devices, and nothing is in use.  What needs a device
raises RuntimeError and says what to install.
"""

from __future__ import annotations

import importlib
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ts.cuda import graphs, memory, random, streams
from ts.cuda._devices import Device, backend, usable
from ts.cuda._devices import number as _number
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
    """Whether a CUDA device can be used here."""
    return usable()


def is_initialized() -> bool:
    """Whether CUDA was used or asked for in this process."""
    return usable()


def init() -> None:
    """Load CUDA now and not at the first use."""
    backend()


def device_count() -> int:
    """The number of CUDA devices."""
    return int(backend().device_count()) if usable() else 0


def current_device() -> int:
    """The number of the device that new tensors go to."""
    return int(backend().current_device())


def set_device(device: Device) -> None:
    """Let new tensors of this thread go to a device."""
    number = _number(device)
    if number >= 0:
        backend().set_device(number)


def synchronize(device: Device = None) -> None:
    """Wait for everything queued on a device, the current one by default."""
    number = _number(device)
    backend().synchronize(number)


class device:
    """The block in which a device is the current one; nothing changes where it is None."""

    def __init__(self, device: Device) -> None:
        self.idx = _number(device)
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
    """The block in which a tensor's device is the current one; nothing changes for tensors elsewhere."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.device if obj.is_cuda else None)


def get_device_properties(device: Device = None) -> Any:
    """What is known of a device: `name`, `major`, `minor`, `total_memory`, `multi_processor_count` ..."""
    return backend().properties(_number(device))


def get_device_name(device: Device = None) -> str:
    """A device's name."""
    return str(get_device_properties(device).name)


def get_device_capability(device: Device = None) -> tuple[int, int]:
    """A device's compute capability, major and minor."""
    about = get_device_properties(device)
    return int(about.major), int(about.minor)


def can_device_access_peer(device: Device, peer_device: Device) -> bool:
    """Whether a device reads the memory of another one directly."""
    return bool(backend().can_access(_number(device), _number(peer_device)))


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether bfloat16 tensors work on the device: they do on all, and fast from compute capability 8.0."""
    return usable() and (including_emulation or get_device_capability() >= (8, 0))


if TYPE_CHECKING:
    from ts.cuda import amp as amp


def _find(name: str) -> Any:
    """The types of tensors of old (`ts.cuda.FloatTensor`), and what is rarely asked for."""
    if name == "amp":
        return importlib.import_module("ts.cuda.amp")
    if name.endswith("Tensor"):
        from ts.python_api.tensor_types import CUDA

        if name in CUDA:
            return CUDA[name]
    return names_for(__name__)(name)


if not TYPE_CHECKING:  # which knows no name that is not there
    __getattr__ = _find
