"""Call modules of several GPUs in parallel threads: `parallel_apply`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.cuda._devices import usable
from ts.cuda._utils import _get_device_index

__all__ = ["get_a_var", "parallel_apply"]


def get_a_var(obj: Any) -> Tensor | None:
    """Return the first tensor in nested lists, tuples and dicts, or None if they contain no tensor."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, dict):
        obj = obj.items()
    if isinstance(obj, list | tuple) or type(obj).__name__ == "dict_items":
        for each in obj:
            tensor = get_a_var(each)
            if tensor is not None:
                return tensor
    return None


def parallel_apply(
    modules: Sequence[Any], inputs: Sequence[Any], kwargs_tup: Any = None, devices: Any = None
) -> list[Any]:
    """Call each module with its inputs in a separate thread, and return the list of results.

    Raise RuntimeError without a GPU, as in PyTorch. An exception in a module is raised in the calling thread.
    """
    n = len(modules)
    if n != len(inputs):
        raise AssertionError(f"The number of modules {n} is not equal to the number of inputs {len(inputs)}")
    if kwargs_tup is None:
        kwargs_tup = ({},) * n
    elif n != len(kwargs_tup):
        raise AssertionError(
            f"The number of modules {n} is not equal to the number of kwargs_tup {len(kwargs_tup)}"
        )
    if devices is None:
        devices = [None] * n
    elif n != len(devices):
        raise AssertionError(
            f"The number of modules {n} is not equal to the number of devices {len(devices)}"
        )
    devices = [_get_device_index(device, optional=True) for device in devices]
    if not usable():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    results: list[Any] = [None] * n
    errors: list[Exception | None] = [None] * n
    grad_enabled = ts.is_grad_enabled()

    def call(i: int) -> None:
        try:
            args = inputs[i] if isinstance(inputs[i], list | tuple) else (inputs[i],)
            device = devices[i]
            if device is None:
                tensor = get_a_var(args)
                device = None if tensor is None else tensor.get_device()
            with ts.set_grad_enabled(grad_enabled), ts.cuda.device(device):
                results[i] = modules[i](*args, **kwargs_tup[i])
        except Exception as error:  # raised again in the calling thread
            errors[i] = error

    threads = [threading.Thread(target=call, args=(i,)) for i in range(n)] if n > 1 else []
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not threads:
        call(0)
    for error in errors:
        if error is not None:
            raise error
    return results
