"""Autocast flags of the calling thread, under PyTorch's names in `ts`.

The flags exist for the device types `cpu` and `cuda`. The default values for `cpu` are:

    >>> ts.get_autocast_dtype("cpu"), ts.is_autocast_enabled("cpu")
    (torch.bfloat16, False)
"""

from __future__ import annotations

import warnings

from ts import dtypes
from ts._core.dispatch import autocast as core
from ts._core.dispatch.autocast import LOWER_DTYPES, backend_index
from ts._core.dispatch.autocast import (
    clear_cache as clear_autocast_cache,
)
from ts._core.dispatch.autocast import (
    decrement_nesting as autocast_decrement_nesting,
)
from ts._core.dispatch.autocast import (
    increment_nesting as autocast_increment_nesting,
)
from ts._core.dispatch.autocast import (
    is_cache_enabled as is_autocast_cache_enabled,
)
from ts._core.dispatch.autocast import (
    set_cache_enabled as set_autocast_cache_enabled,
)
from ts.devices import device as Device

__all__ = [
    "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
    "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_available",
    "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled",
    "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_dtype",
    "set_autocast_enabled", "set_autocast_gpu_dtype",
]  # fmt: skip

_ELSEWHERE = frozenset({"mps", "xpu", "hpu", "mtia", "maia", "ipu", "xla", "privateuseone"})


def is_autocast_available(device_type: str) -> bool:
    """Return True if autocast supports a device type."""
    return Device(device_type).type in LOWER_DTYPES


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Return True if autocast is enabled in this thread for a device type (default: CUDA)."""
    if device_type is not None and not isinstance(device_type, str):
        raise TypeError(
            "is_autocast_enabled(): argument 'device_type' (position 1) must be str, not "
            + type(device_type).__name__
        )
    if device_type in _ELSEWHERE:
        return False
    unknown = "unknown device type for autocast in get_autocast_dispatch_key_from_device_type"
    return core.is_enabled(backend_index("cuda" if device_type is None else device_type, unknown))


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Enable or disable autocast for a device type. If the only argument is a bool, it applies to CUDA."""
    if isinstance(device_type, bool):
        enabled, device_type = device_type, "cuda"
    if not isinstance(enabled, bool):
        raise TypeError(
            "set_autocast_enabled(): argument 'enabled' (position 2) must be bool, not "
            + type(enabled).__name__
        )
    core.set_enabled(backend_index(device_type), enabled)


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """Return the dtype to which autocast converts tensors of a device type in this thread."""
    return core.lower_dtype(backend_index(device_type))


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Set the dtype to which autocast converts tensors of a device type in this thread."""
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError(
            "set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not "
            + type(dtype).__name__
        )
    core.set_lower_dtype(backend_index(device_type), dtype)


def _warn(name: str, better: str) -> None:
    warnings.warn(
        f"torch.{name} is deprecated. Please use torch.{better} instead.", DeprecationWarning, stacklevel=3
    )


def is_autocast_cpu_enabled() -> bool:
    """Return `is_autocast_enabled("cpu")`. This function is deprecated."""
    _warn("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Call `set_autocast_enabled("cpu", enabled)`. This function is deprecated."""
    _warn("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> dtypes.dtype:
    """Return `get_autocast_dtype("cpu")`. This function is deprecated."""
    _warn("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: dtypes.dtype) -> None:
    """Call `set_autocast_dtype("cpu", dtype)`. This function is deprecated."""
    _warn("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> dtypes.dtype:
    """Return `get_autocast_dtype("cuda")`. This function is deprecated."""
    _warn("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: dtypes.dtype) -> None:
    """Call `set_autocast_dtype("cuda", dtype)`. This function is deprecated."""
    _warn("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)
