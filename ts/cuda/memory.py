"""Memory of CUDA devices, under the names of `torch.cuda.memory`.

The example returns the largest number of bytes that were in use at once:

    ts.cuda.reset_peak_memory_stats()
    y = model(x)
    ts.cuda.max_memory_allocated()

The sizes of allocations are rounded up to multiples of 512 bytes. Without a device, all counts are 0.
"""

from __future__ import annotations

from ts.cuda._devices import Device, backend, checked, usable
from ts.unsupported import names_for


def memory_allocated(device: Device = None) -> int:
    """Return the number of bytes that tensors on a device use."""
    return int(backend().pool.allocated(checked(device))) if usable() else 0


def max_memory_allocated(device: Device = None) -> int:
    """Return the maximum of `memory_allocated` since the start or `reset_peak_memory_stats`."""
    return int(backend().pool.peak(checked(device))) if usable() else 0


def memory_reserved(device: Device = None) -> int:
    """Return the number of bytes that the memory pool holds on a device, used or free."""
    return int(backend().pool.reserved(checked(device))) if usable() else 0


def max_memory_reserved(device: Device = None) -> int:
    """Return the maximum of `memory_reserved` since the start or `reset_peak_memory_stats`."""
    return int(backend().pool.peak_reserved(checked(device))) if usable() else 0


def reset_peak_memory_stats(device: Device = None) -> None:
    """Reset the peaks of a device to the present usage."""
    backend().pool.reset_peak(checked(device))


def reset_max_memory_allocated(device: Device = None) -> None:
    """Reset the peak memory statistics. Deprecated alias of `reset_peak_memory_stats`."""
    reset_peak_memory_stats(device)


def memory_stats(device: Device = None) -> dict[str, int]:
    """Return a dict of the current and peak memory use in bytes, with PyTorch's keys."""
    if not usable():
        return {}
    return {
        "allocated_bytes.all.current": memory_allocated(device),
        "allocated_bytes.all.peak": max_memory_allocated(device),
        "reserved_bytes.all.current": memory_reserved(device),
        "reserved_bytes.all.peak": max_memory_reserved(device),
    }


def empty_cache() -> None:
    """Release the unused memory of the pool to the device."""
    if usable():
        backend().pool.release()


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """Return the free and the total memory of a device in bytes."""
    free_and_total: tuple[int, int] = backend().free_and_total(checked(device))
    return free_and_total


__getattr__ = names_for(__name__)
