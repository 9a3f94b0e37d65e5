"""Linear algebra. For example, `ts.linalg.norm` is the operator `aten::linalg_norm`."""

from __future__ import annotations

from typing import Any

from ts.errors import LinAlgError, missing_attribute
from ts.ops import registry

__all__ = ["LinAlgError"]


def __getattr__(name: str) -> Any:
    names = registry.namespace("linalg")
    if name not in names:
        raise missing_attribute("module 'ts.linalg'", name, __dir__)
    function = globals()[name] = registry.function(names[name].removeprefix("aten::"))
    return function


def __dir__() -> list[str]:
    return sorted({*__all__, *registry.namespace("linalg")})
