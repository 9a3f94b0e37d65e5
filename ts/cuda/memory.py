"""Memory of CUDA devices, under the names of `torch.cuda.memory`.

    ts.cuda.reset_peak_memory_stats()
    y = model(x)
    ts.cuda.max_memory_allocated()          bytes that were in use at once

Allocations are rounded up to 512 bytes.  Without a device nothing is in use.
"""

from __future__ import annotations

from ts.cuda._devices import Device, backend, checked, usable
from ts.unsupported import names_for


def memory_allocated(device: Device = None) -> int:
    """Bytes of tensors on a device."""
    return int(backend().pool.allocated(checked(device))) if usable() else 0


def max_memory_allocated(device: Device = None) -> int:
    """The most bytes of tensors at once, since the start or `reset_peak_memory_stats`."""
    return int(backend().pool.peak(checked(device))) if usable() else 0


def memory_reserved(device: Device = None) -> int:
    """Bytes that the pool holds on a device, for tensors there are and tensors to come."""
    return int(backend().pool.reserved(checked(device))) if usable() else 0


def max_memory_reserved(device: Device = None) -> int:
    """The most bytes that the pool held, since the start or `reset_peak_memory_stats`."""
    return int(backend().pool.peak_reserved(checked(device))) if usable() else 0


def reset_peak_memory_stats(device: Device = None) -> None:
    """Let the peaks start from what is in use now."""
    backend().pool.reset_peak(checked(device))


def reset_max_memory_allocated(device: Device = None) -> None:
    """The older name of `reset_peak_memory_stats`."""
    reset_peak_memory_stats(device)


def memory_stats(device: Device = None) -> dict[str, int]:
    """The counts above, under PyTorch's keys."""
    if not usable():
        return {}
    return {
        "allocated_bytes.all.current": memory_allocated(device),
        "allocated_bytes.all.peak": max_memory_allocated(device),
        "reserved_bytes.all.current": memory_reserved(device),
        "reserved_bytes.all.peak": max_memory_reserved(device),
    }


def empty_cache() -> None:
    """Give memory that no tensor uses back to the device."""
    if usable():
        backend().pool.release()


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """Bytes of a device that are free, and that it has."""
    found: tuple[int, int] = backend().free_and_total(checked(device))
    return found


__getattr__ = names_for(__name__)
