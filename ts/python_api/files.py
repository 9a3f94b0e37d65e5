"""Tensors whose memory is a file, and the modules of device types.

The right column describes the result of each call:

    ts.from_file("data.bin", shared=True, size=1000)    tensor that maps the file. Writes change the file
    ts.get_device_module("cuda")                        the module `ts.cuda`
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import ts
from ts import backends, dtypes
from ts._core.tensor.storage import UntypedStorage
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.type_names import type_text
from ts.devices import as_device
from ts.devices import device as Device


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = False,
    requires_grad: bool = False,
) -> Tensor:
    """Return a 1-d tensor of `size` elements over the start of a file, mapped into memory.

    With `shared`, the file is created or extended if necessary, and writes to the tensor change it. Raises
    RuntimeError if the file cannot be opened or is too short.
    """
    if not isinstance(filename, str):
        raise TypeError(
            f"from_file(): argument 'filename' (position 1) must be str, not {type_text(filename)}"
        )
    if pin_memory:
        raise RuntimeError("tensors constructed from a file cannot be pinned")
    if layout is not None and layout is not dtypes.strided:
        raise NotImplementedError(f"from_file: unsupported layout {layout}")
    if device is not None and as_device(device).type != "cpu":
        raise NotImplementedError(f"from_file: unsupported device {as_device(device)}")
    target_dtype = dtypes.get_default_dtype() if dtype is None else dtypes.as_dtype(dtype)
    count = int(size or 0)
    storage = UntypedStorage.from_file(filename, bool(shared), count * target_dtype.itemsize)
    tensor: Tensor = ts.empty(0, dtype=target_dtype).set_(storage, 0, (count,))
    return tensor.requires_grad_() if requires_grad else tensor


def get_device_module(device: Any = None) -> ModuleType:
    """Return the module of a device type, `ts.cuda` or `ts.cpu`. The default is the accelerator.

    Raises RuntimeError for other values, and for devices without a module.
    """
    if device is None:
        name = "cuda" if "cuda" in backends.available() else "cpu"
    elif isinstance(device, str | Device):
        name = as_device(device).type
    else:
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    try:
        return importlib.import_module(f"ts.{name}")
    except ImportError:
        raise RuntimeError(
            f"Device '{name}' does not have a corresponding module registered as 'torch.{name}'."
        ) from None
