"""All operators that are written in C: over numbers, strings, lists and dicts, and facts about tensors.

In: nothing.  Out: `operators()`, which the registry puts in order together with the records.
"""

from __future__ import annotations

from ts._core import (  # type: ignore[attr-defined]  # extensions without stubs: all they show is operators()
    prims_compare,
    prims_container,
    prims_dict,
    prims_generic,
    prims_math,
    prims_scalar,
    prims_string,
    prims_tensor,
)
from ts._core.dispatch import Operator

_MODULES = (
    prims_math, prims_scalar, prims_container, prims_compare, prims_dict, prims_string, prims_generic,
    prims_tensor,
)  # fmt: skip


def operators() -> list[Operator]:
    """Every operator once, those of a module in the order of its table."""
    return [op for module in _MODULES for op in module.operators()]
