"""Automatic mixed precision: blocks that turn it off, and a clear answer where it is wanted.

    with ts.autocast("cuda"):                           off with a warning where there is no CUDA device
    with ts.autocast("cpu", enabled=False):             float32 stays float32
    with ts.autocast("cpu", dtype=ts.bfloat16):         NotImplementedError: operators keep their dtypes

Call `model.to(ts.bfloat16)`, or `.to(dtype)` on what goes in, to compute in lower precision.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from ts import backends, dtypes
from ts.devices import device as Device

_LOWER = {"cpu": ("bfloat16", "float16"), "cuda": ("float16", "bfloat16")}  # PyTorch's defaults stand first


class autocast:
    """A block, or function, in which products are computed in lower precision: only the one that does not."""

    def __init__(
        self,
        device_type: str,
        dtype: dtypes.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = Device(device_type).type
        if self.device not in _LOWER:
            raise RuntimeError(f"User specified an unsupported autocast device_type '{self.device}'")
        self.fast_dtype = get_autocast_dtype(self.device) if dtype is None else dtype
        self._enabled = enabled and self._is_possible()
        if self._enabled:
            raise NotImplementedError(
                f"autocast to {self.fast_dtype} on '{self.device}' is not implemented: operators keep "
                "the dtypes of their arguments; convert the model and its input instead "
                "(model.to(dtype)), or pass enabled=False"
            )

    def _is_possible(self) -> bool:
        """Whether PyTorch would not turn it off as well."""
        if self.device == "cuda":
            is_available = "cuda" in backends.available()
            if not is_available:
                warnings.warn(
                    "CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=3
                )
            return is_available
        allowed = [dtypes.NAMES[name] for name in _LOWER["cpu"]]
        if self.fast_dtype not in allowed:
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"CPU Autocast only supports dtypes of {', '.join(map(str, allowed))} currently.",
                stacklevel=3,
            )
        return self.fast_dtype in allowed

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Nothing was switched."""

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return inside


def is_autocast_available(device_type: str) -> bool:
    """Whether products can be computed in lower precision without being told: no."""
    Device(device_type)
    return False


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether this is inside of a block that computes in lower precision: never."""
    return False


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The dtype that such a block would take."""
    if device_type not in _LOWER:
        raise RuntimeError(f"unknown device type for autocast in get_autocast_dtype: {device_type}")
    return dtypes.NAMES[_LOWER[device_type][0]]
