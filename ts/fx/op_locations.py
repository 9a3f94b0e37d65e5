"""Public locations of operator functions: the module, class or namespace that exports each function.

Example: `namespace_of(ts.relu)` returns the module `ts`.
"""

from __future__ import annotations

from typing import Any, Final

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops.namespace import OpOverload

_SPACES: Final = ("linalg", "fft", "special")
# Operator name -> different name of its function in `nn.functional`
_RENAMED: Final = {"log_sigmoid": "logsigmoid"}


def namespace_of(func: Any) -> Any:
    """Return the module that exports the function of an operator, or None if no module exports it."""
    name = func.__name__
    for space in _SPACES:
        if name.startswith(f"{space}_"):
            home = getattr(ts, space)
            if getattr(home, name.removeprefix(f"{space}_"), None) is func:
                return home
    functional = ts.nn.functional
    listed = _RENAMED.get(name, name)
    if (listed in functional.NAME_TO_MODULE or listed in functional.OPERATORS) and getattr(
        functional, listed
    ) is func:
        return functional
    return ts if getattr(ts, name, None) is func else None


def is_tensor_method(func: Any) -> bool:
    """Return True for a method of Tensor, and for the getter, setter or deleter of a tensor attribute."""
    name = getattr(func, "__name__", "")
    return name in ("__get__", "__set__", "__delete__") or (
        bool(name) and func is getattr(Tensor, name, None)
    )


def is_one_overload(func: Any) -> bool:
    """Return True for a single overload, such as `ts.ops.aten.add.Tensor`."""
    return isinstance(func, OpOverload)
