"""Autocast (automatic mixed precision), in which selected operators compute in 16 bits.

Autocast is a `with` block or a decorator:

    with ts.autocast("cpu"):                            bfloat16
        y = model(x)
    with ts.autocast("cuda", dtype=ts.float16): ...     without a CUDA device, disabled with a warning

    @ts.autocast("cpu")
    def predict(x): ...

A scripted function that is called within a block runs its graph without fusion. Scripts may contain blocks,
which are saved in PyTorch's format. Traces record the conversions.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from ts import backends, dtypes
from ts._core.dispatch import autocast as core
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import current_tracer
from ts.amp.autocast_flags import (
    get_autocast_dtype,
    is_autocast_available,
    is_autocast_cache_enabled,
    is_autocast_enabled,
)
from ts.devices import device as Device

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

F = TypeVar("F", bound=Callable[..., Any])


class ScriptAutocast:
    """Class that represents `autocast` in scripts. The executor implements its entry and exit."""

    __module__ = "torch.amp.autocast_mode"
    __ts_name__ = "autocast"

    def __init__(
        self,
        device_type: str,
        dtype: int | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._enabled = enabled
        self.device = device_type

    def __enter__(self):  # type: ignore[no-untyped-def]  # a script has no name for the type `Self`
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        return None


class autocast:
    """Context manager and decorator that converts the inputs of operators to 16 bits or float32.

    Without `dtype`, CPU operators use bfloat16 and CUDA operators float16.  Leaf tensors that require grad
    are converted once per outermost block, unless `cache_enabled` is False.

    Raises ValueError if the device type is not a string, and RuntimeError if autocast does not support it.
    Semantics: https://docs.pytorch.org/docs/stable/amp.html
    """

    __ts_script_class__: type = ScriptAutocast

    def __init__(
        self,
        device_type: str,
        dtype: dtypes.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        self._device_index = core.backend_index(device_type)
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = enabled and self._is_possible()
        self._before: list[list[int]] = []

    def _is_possible(self) -> bool:
        """Return whether autocast can be enabled. If it cannot, emit a warning with the reason."""
        kind = Device(self.device).type
        if kind == "cuda":
            is_available = "cuda" in backends.available()
            if not is_available:
                warnings.warn(
                    "CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=3
                )
            return is_available
        supported_dtypes = core.LOWER_DTYPES[kind]
        if self.fast_dtype not in supported_dtypes:
            name = kind.upper()
            warnings.warn(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of {', '.join(map(str, supported_dtypes))} currently.",
                stacklevel=3,
            )
        return self.fast_dtype in supported_dtypes

    def __enter__(self) -> autocast:
        self._before.append(self._enter())
        return self

    def _enter(self) -> list[int]:
        before = core.enter(self._device_index, self.fast_dtype, self._enabled, self._cache_enabled)
        # Only the tracer of an export has `casts`. It records the begin and the end of autocast blocks.
        tracer = current_tracer()
        if tracer is not None and tracer.casts is not None:
            tracer.casts.append((self.device, self.fast_dtype, self._enabled))
        return before

    def _leave(self, before: list[int]) -> None:
        tracer = current_tracer()
        if tracer is not None and tracer.casts:
            tracer.casts.pop()
        core.leave(self._device_index, before)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._leave(self._before.pop())

    def __call__(self, function: F) -> F:
        """Return a function that calls `function` under autocast. Scripts cannot call the result.

        Raises TypeError if `function` is not callable.
        """
        if not callable(function):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(function).__name__}. "
                "Did you mean to use autocast as a context manager? For example:\n"
                "    with torch.autocast(device_type=...):\n        output = model(input)"
            )

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            # in a local variable, because several threads may call the function
            before = self._enter()
            try:
                return function(*args, **kwargs)
            finally:
                self._leave(before)

        vars(inside)["__script_unsupported"] = "@autocast() decorator is not supported in script mode"
        return inside  # type: ignore[return-value]


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: dtypes.dtype | None = None
) -> Callable[..., Any]:
    """Decorate the `forward` of a `Function`, so that calls record their autocast state for `custom_bwd`.

    If `cast_inputs` is a dtype and autocast is enabled, floating-point arguments on the device are converted
    to this dtype, and `forward` runs without autocast. Raises ValueError if the device type is not a string.
    """
    _check_device(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = get_autocast_dtype(device_type)
        is_on = is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = is_on and cast_inputs is None
        if not is_on or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        args, kwargs = _cast((args, kwargs), device_type, cast_inputs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *args, **kwargs)

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """Decorate the `backward` of a `Function`, so that it runs in the autocast state of its `forward`.

    The `forward` must be decorated with `custom_fwd`. Raises ValueError if the device type is not a string.
    """
    _check_device(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, ctx._dtype, ctx._fwd_used_autocast):
            return bwd(ctx, *args, **kwargs)

    return backward


def _check_device(device_type: object) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def _cast(value: Any, device_type: str, dtype: dtypes.dtype) -> Any:
    """Convert floating-point tensors in `value`, except float64, to `dtype` if they are on the given device.

    Containers in `value` are copied.
    """
    if isinstance(value, Tensor):
        is_cast = value.is_floating_point() and value.device.type == device_type
        return value.to(dtype) if is_cast and value.dtype is not dtypes.float64 else value
    if isinstance(value, str | bytes | np.ndarray):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, Iterable):
        items = (_cast(v, device_type, dtype) for v in value)
        return type(value)(items) if isinstance(value, list | tuple) else items  # type: ignore[call-arg]
    return value
