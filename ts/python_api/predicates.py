"""Predicates on tensors and other objects, implemented as functions of the package instead of operators.

Example:

>>> is_tensor(ts.ones(2)), numel(ts.ones(2)), typename([])
(True, 2, 'list')
"""

from __future__ import annotations

from typing import Any

from ts._core.dispatch.overloads import OverloadSet
from ts._core.dispatch.overrides import Overridable
from ts._core.tensor.tensor import Tensor


def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError(message) unless `condition` is true."""
    if not condition:
        raise AssertionError(message)


def is_tensor(x: object) -> bool:
    """Return True if `x` is a Tensor."""
    return isinstance(x, Tensor)


def _tensor(name: str, x: Any) -> Any:
    """Return `x`. Raise TypeError unless it is a tensor."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(x).__name__}")
    return x


def is_floating_point(x: Any) -> bool:
    """Return True if the elements of `x` are real floating-point numbers."""
    return bool(_tensor("is_floating_point", x).is_floating_point())


def is_complex(x: Any) -> bool:
    """Return True if the elements of `x` are complex numbers."""
    return bool(_tensor("is_complex", x).is_complex())


def numel(x: Any) -> int:
    """Return the number of elements of `x`."""
    return int(_tensor("numel", x).numel())


def get_device(x: Any) -> int:
    """Return the device index of `x`, or -1 for the CPU."""
    return int(_tensor("get_device", x).get_device())


def typename(obj: Any, /) -> str:
    """Return the qualified name of the type of an object."""
    if isinstance(obj, Tensor):
        return str(obj.type())
    if isinstance(obj, OverloadSet):
        return f"torch._VariableFunctionsClass.{obj.__name__}"
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(obj, "__module__", None) or ""
    prefix = "" if module in ("builtins", "__builtin__", "") else f"{module}."
    return f"{prefix}{kind.__qualname__}"


# `Overridable` makes a function overridable: by the class of an argument or by a mode, which define
# `__torch_function__`.
for _name in ("_assert", "is_floating_point", "is_complex", "numel", "get_device"):
    globals()[_name] = Overridable(globals()[_name], is_python=_name == "_assert")
