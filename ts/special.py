"""Special functions. For example, `ts.special.expit` is the operator `aten::special_expit`."""

from __future__ import annotations

from typing import Any

from ts.errors import missing_attribute
from ts.ops import registry


def __getattr__(name: str) -> Any:
    names = registry.namespace("special")
    if name not in names:
        raise missing_attribute("module 'ts.special'", name, __dir__)
    function = globals()[name] = registry.function(names[name].removeprefix("aten::"))
    return function


def __dir__() -> list[str]:
    return sorted(registry.namespace("special"))
