"""The modules by family; each class is found by name on first use, through `HOMES`."""

from __future__ import annotations

import importlib
from typing import Any, Final

_FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "module": ("Module",),
    "container": ("Sequential", "ModuleList", "ModuleDict"),
    "parameter_containers": ("ParameterList", "ParameterDict"),
}  # fmt: skip
HOMES: Final = {name: f"ts.nn.modules.{family}" for family, names in _FAMILIES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in HOMES:
        value = getattr(importlib.import_module(HOMES[name]), name)
    elif name in _FAMILIES:
        value = importlib.import_module(f"ts.nn.modules.{name}")
    else:
        raise AttributeError(f"module 'ts.nn.modules' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES, *_FAMILIES})
