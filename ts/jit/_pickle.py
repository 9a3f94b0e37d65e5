"""Functions that pickles of `aten::save` and of module archives call, under their names in PyTorch.

For example, `ts.load("state.pt", weights_only=False)` may call `restore_type_tag({}, "Dict[str, int]")`. The
function returns the dictionary, because Python's dictionaries have no element types.
"""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def build_intlist(data: T) -> T:
    """Return `data`, a list of ints."""
    return data


def build_tensorlist(data: T) -> T:
    """Return `data`, a list of tensors."""
    return data


def build_doublelist(data: T) -> T:
    """Return `data`, a list of floats."""
    return data


def build_boollist(data: T) -> T:
    """Return `data`, a list of bools."""
    return data


def build_tensor_from_id(data: Any) -> int | None:
    """Return the number of a tensor stored outside of the pickle, or None if `data` is not an int."""
    return data if isinstance(data, int) else None


def restore_type_tag(value: T, type_str: str) -> T:
    """Return `value` unchanged. `type_str` is the type that the list or dictionary `value` had when saved."""
    return value
