"""Tensors of derived classes: exchange of contents, and traceable wrapper subclasses.

The functions are:

    swap_tensors(x, y)                   exchanges the contents, classes and attributes of x and y
    is_traceable_wrapper_subclass(x)     whether the class of x defines `__tensor_flatten__`
"""

from __future__ import annotations

import copyreg
import weakref
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import layer_of
from ts._core.tensor.tensor_type import swap_contents


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Return whether the class of `t` is a wrapper subclass that defines `__tensor_flatten__`."""
    is_subclass = isinstance(t, Tensor) and type(t) is not Tensor
    return is_subclass and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Return whether a tensor class is a wrapper subclass that defines `__tensor_flatten__`."""
    is_subclass = issubclass(t, Tensor) and t is not Tensor
    return is_subclass and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_dispatched(x: Any) -> bool:
    """Return whether `x` is a tensor whose class defines `__torch_dispatch__`."""
    layer = layer_of(x) if isinstance(x, Tensor) else None
    return layer is not None and layer.dispatches


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchange the contents, classes and attributes of two tensors.

    Raise RuntimeError if one of them has weak references, or if their classes have different `__slots__`.
    """
    for name, t in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(t):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = set(copyreg._slotnames(t1.__class__))  # type: ignore[attr-defined]
    if slots != set(copyreg._slotnames(t2.__class__)):  # type: ignore[attr-defined]
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    values = [{name: getattr(t, name) for name in slots if hasattr(t, name)} for t in (t1, t2)]
    swap_contents(t1, t2)
    for t, attributes in ((t1, values[1]), (t2, values[0])):
        for name in slots:
            if name in attributes:
                setattr(t, name, attributes[name])
            elif hasattr(t, name):
                delattr(t, name)
