"""Mixed precision on the CPU, under deprecated names of `ts.autocast("cpu")` and `ts.amp`.

For example, `ts.cpu.amp.autocast()` is the deprecated name of `ts.autocast("cpu")`.
"""

from __future__ import annotations

import warnings

from ts import amp, dtypes
from ts.amp.autocast_mode import ScriptAutocast

__all__ = ["GradScaler", "autocast"]

# makes the module a package, as in PyTorch: `ts.unsupported.spec_of` creates its submodules
__path__: list[str] = []


def _warn(name: str) -> None:
    warnings.warn(
        f"`torch.cpu.amp.{name}(args...)` is deprecated. "
        f"Please use `torch.amp.{name}('cpu', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


class _ScriptAutocast:
    """Class that represents `autocast` in scripts."""

    __module__ = "torch.cpu.amp.autocast_mode"
    __ts_name__ = "autocast"

    def __init__(self, enabled: bool = True, dtype: int = 15, cache_enabled: bool = True) -> None:
        self._enabled = enabled
        self.device = "cpu"
        self.fast_dtype = dtype

    __enter__ = ScriptAutocast.__enter__
    __exit__ = ScriptAutocast.__exit__


class autocast(amp.autocast):
    """`ts.autocast` for the CPU."""

    __ts_script_class__: type = _ScriptAutocast

    def __init__(
        self, enabled: bool = True, dtype: dtypes.dtype = dtypes.NAMES["bfloat16"], cache_enabled: bool = True
    ) -> None:
        _warn("autocast")
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """`ts.amp.GradScaler` for the CPU."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _warn("GradScaler")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
