"""Mixed precision on CUDA devices, under deprecated names of `ts.autocast("cuda")` and `ts.amp`.

For example, `ts.cuda.amp.autocast()` is the deprecated name of `ts.autocast("cuda")`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ts import amp, dtypes
from ts.amp.autocast_mode import ScriptAutocast

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

# makes the module a package, as in PyTorch: `ts.unsupported.spec_of` creates its submodules
__path__: list[str] = []


def _warn(name: str, better: str) -> None:
    warnings.warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{better}` instead.",
        FutureWarning,
        stacklevel=3,
    )


class _ScriptAutocast:
    """Class that scripts use for `ts.cuda.amp.autocast`."""

    __module__ = "torch.cuda.amp.autocast_mode"
    __ts_name__ = "autocast"

    def __init__(self, enabled: bool = True, dtype: int = 5, cache_enabled: bool = True) -> None:
        self._enabled = enabled
        self.device = "cuda"
        self.fast_dtype = dtype

    __enter__ = ScriptAutocast.__enter__
    __exit__ = ScriptAutocast.__exit__


class autocast(amp.autocast):
    """`ts.autocast` for CUDA devices."""

    __ts_script_class__: type = _ScriptAutocast

    def __init__(
        self, enabled: bool = True, dtype: dtypes.dtype = dtypes.NAMES["float16"], cache_enabled: bool = True
    ) -> None:
        _warn("autocast", "autocast('cuda', args...)")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """`ts.amp.GradScaler` for CUDA devices."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _warn("GradScaler", "GradScaler('cuda', args...)")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(*args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Decorate a `forward` by `ts.amp.custom_fwd` for CUDA devices. This function is deprecated."""
    _warn("custom_fwd", "custom_fwd(args..., device_type='cuda')")
    return amp.custom_fwd(*args, **kwargs, device_type="cuda")


def custom_bwd(*args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Decorate a `backward` by `ts.amp.custom_bwd` for CUDA devices. This function is deprecated."""
    _warn("custom_bwd", "custom_bwd(args..., device_type='cuda')")
    return amp.custom_bwd(*args, **kwargs, device_type="cuda")
