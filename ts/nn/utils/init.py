"""Construction of modules without initializing their parameters.

`skip_init(ts.nn.Linear, 4096, 4096)` returns a linear layer with uninitialized parameters.
"""

from __future__ import annotations

import inspect
from typing import Any

from ts.nn.modules.module import Module


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Create a module with uninitialized parameters and buffers."""
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
