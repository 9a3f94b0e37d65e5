"""Utilities: data sets, data loaders, DLPack and others.

A submodule is imported on first use. For example, the first access of `ts.utils.data` imports the data
loaders.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from ts.unsupported import names_for

_MODULES: Final = frozenset({
    "_device", "_mode_utils", "_python_dispatch", "_pytree", "checkpoint", "data", "dlpack", "hooks",
    "model_zoo", "weak",
})  # fmt: skip


if TYPE_CHECKING:
    from ts._core.tensor.subclasses import swap_tensors as swap_tensors
    from ts.utils import _device as _device
    from ts.utils import _pytree as _pytree
    from ts.utils import checkpoint as checkpoint
    from ts.utils import data as data
    from ts.utils import dlpack as dlpack
    from ts.utils import hooks as hooks
    from ts.utils import model_zoo as model_zoo
    from ts.utils import weak as weak


def _find(name: str) -> Any:
    if name == "swap_tensors":
        return importlib.import_module("ts._core.tensor.subclasses").swap_tensors
    if name in _MODULES:
        return importlib.import_module(f"ts.utils.{name}")
    return names_for(__name__)(name)


if not TYPE_CHECKING:  # a type checker must report unknown names
    __getattr__ = _find


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, "swap_tensors"})
