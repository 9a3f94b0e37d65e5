"""Python state of tensors in copies and pickles: attributes and `__slots__`.

Input: a tensor. Output: its Python state, as `object.__reduce_ex__` returns it. If the class of x has the
slot "tag", and x also has the attribute "name":

    get_state(x)                  ({"name": ...}, {"tag": ...})
    set_state(y, get_state(x))    sets both attributes of y
"""

from __future__ import annotations

import copy
import copyreg
from typing import Any

from ts._core.tensor.tensor import Tensor


def get_state(x: Tensor) -> Any:
    """Return the result of `__getstate__`: a dict, or a tuple of a dict or None and a dict of slots."""
    return x.__getstate__()  # type: ignore[attr-defined]


def set_state(x: Tensor, state: Any) -> None:
    """Set the attributes of a new tensor from a result of `get_state`.

    Call `__setstate__` if the class of `x` defines it.
    """
    set_own_state = getattr(type(x), "__setstate__", None)
    if set_own_state is not None and set_own_state is not getattr(Tensor, "__setstate__", None):
        set_own_state(x, state)
        return
    for attributes in state if isinstance(state, tuple) else (state,):
        for name, value in (attributes or {}).items():
            setattr(x, name, value)


def copy_slots(x: Tensor, copied: Tensor, memo: dict[int, Any]) -> None:
    """Set deep copies of the slots of `x` in its copy."""
    for name in copyreg._slotnames(type(x)):  # type: ignore[attr-defined]
        if hasattr(x, name):
            setattr(copied, name, copy.deepcopy(getattr(x, name), memo))


def rebuild_with_state(rebuild: Any, cls: type, arguments: tuple[Any, ...], state: Any) -> Tensor:
    """Create a tensor of the class `cls` from its pickle: `rebuild(*arguments)` with the state `state`.

    If the class is not that of the rebuilt tensor, a tensor that requires grad is the base of the result.
    """
    result: Tensor = rebuild(*arguments)
    if type(result) is not cls:
        result = result.as_subclass(cls)
    set_state(result, state)
    return result
