"""Default devices: a function mode that adds `device=` to calls of functions that create tensors.

A block sets the default device for its calls. `ts.set_default_device` sets the default device of the thread
outside of such blocks:

    with ts.device("meta"):
        ts.ones(2)                     # a tensor on the device meta
    ts.set_default_device("meta")

The mode applies to calls by Python code of one thread. It does not apply to scripts, or to conversions
(`from_numpy`, `ts.load`). It does not apply to functions that use the device of an argument (`ones_like`,
`x.new_ones`).
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from typing import Any

import ts
from ts import devices
from ts._core.dispatch import modes
from ts.overrides import TorchFunctionMode

_FACTORIES = (
    "arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_permuted",
    "empty_quantized", "empty_strided", "eye", "fft.fftfreq", "fft.rfftfreq", "full", "hamming_window",
    "hann_window", "kaiser_window", "linspace", "logspace", "nested.nested_tensor", "ones", "rand", "randint",
    "randn", "randperm", "range", "scalar_tensor", "sparse_bsc_tensor", "sparse_bsr_tensor",
    "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor", "tensor",
    "tril_indices", "triu_indices", "zeros",
)  # fmt: skip


@functools.cache
def _device_constructors() -> frozenset[Callable[..., Any]]:
    """Return the factory functions that use the default device."""
    constructors = []
    for path in _FACTORIES:
        value: Any = ts
        for name in path.split("."):
            value = getattr(value, name, None)
        if callable(value):
            constructors.append(value)
    return frozenset(constructors)


class DeviceContext(TorchFunctionMode):
    """Function mode that adds `device` to calls of factory functions."""

    def __init__(self, device: Any) -> None:
        self.device = devices.device(device)

    def __enter__(self) -> None:  # type: ignore[override]
        """Insert this mode at the bottom of the mode stack, so that `with device:` blocks have precedence."""
        inner_modes = [modes.pop() for _ in modes.stack()[:]]
        for mode in [self, *reversed(inner_modes)]:
            modes.push(mode)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Remove the mode from the bottom of the stack."""
        inner_modes = [modes.pop() for _ in modes.stack()[1:]]
        modes.pop()
        for mode in reversed(inner_modes):
            modes.push(mode)

    def __torch_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in _device_constructors() and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": self.device}
        return func(*args, **kwargs)


def push_device(device: devices.device) -> None:
    """Make `device` the default of this thread until `pop_device`."""
    modes.push(DeviceContext(device))


def pop_device() -> None:
    """Undo the last `push_device`. Raise RuntimeError if no mode is active."""
    if not modes.stack():
        raise RuntimeError("trying to pop from empty mode stack")
    modes.pop()


class _ThreadDefault(threading.local):
    context: DeviceContext | None = None


_default = _ThreadDefault()


def set_default_device(device: Any) -> None:
    """Set the default device of this thread for factory functions. None restores the CPU."""
    context = None if device is None else DeviceContext(device)
    if _default.context is not None:
        _default.context.__exit__(None, None, None)
    _default.context = context
    if context is not None:
        context.__enter__()


def get_default_device() -> devices.device:
    """Return the default device of this thread for factory functions."""
    context = next((mode for mode in reversed(modes.stack()) if isinstance(mode, DeviceContext)), None)
    if context is None:
        return devices.CPU
    return context.device if context.device.index is not None else ts.tensor([]).device


def device_decorator(device: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `function` to run with `device` as the default device."""

    @functools.wraps(function)
    def run_on_device(*args: Any, **kwargs: Any) -> Any:
        with devices.as_device(device() if callable(device) else device):
            return function(*args, **kwargs)

    return run_on_device


def set_device(device: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that runs functions with `device` as the default device."""
    return functools.partial(device_decorator, ts.device(device))
