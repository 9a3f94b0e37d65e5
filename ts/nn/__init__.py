"""Neural networks: modules, parameters, initialization, functions.

Example:

    net = ts.nn.Sequential(ts.nn.Linear(3, 4), ts.nn.ReLU())
    net(ts.ones(2, 3))

Python modules of this package are imported when one of their names is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from ts._core.value.build_lock import import_lock
from ts.unsupported import names_for

if TYPE_CHECKING:
    from ts.nn.modules.container import ModuleDict as ModuleDict
    from ts.nn.modules.container import ModuleList as ModuleList
    from ts.nn.modules.container import ParameterDict as ParameterDict
    from ts.nn.modules.container import ParameterList as ParameterList
    from ts.nn.modules.container import Sequential as Sequential
    from ts.nn.modules.module import Module as Module
    from ts.nn.parameter import Buffer as Buffer
    from ts.nn.parameter import Parameter as Parameter

_PARAMETERS: Final = ("Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer")
_MODULES: Final = frozenset(
    {
        "attention", "common_types", "functional", "grad", "hooks", "init", "modules", "parallel",
        "parameter", "utils",
    }
)  # fmt: skip


def __getattr__(name: str) -> Any:
    with import_lock():
        value = globals()[name] = _find(name)
    return value


def _find(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"ts.nn.{name}")
    if name in _PARAMETERS:
        return getattr(importlib.import_module("ts.nn.parameter"), name)
    if name == "DataParallel":
        return importlib.import_module("ts.nn.parallel").DataParallel
    modules = importlib.import_module("ts.nn.modules")
    if name in modules.NAME_TO_MODULE:
        return getattr(modules, name)
    return names_for(__name__)(name)


def __dir__() -> list[str]:
    from ts.nn import modules

    return sorted({*globals(), "DataParallel", *_MODULES, *_PARAMETERS, *modules.NAME_TO_MODULE})
