"""Attributes of the modules `ts.linalg`, `ts.special`, `ts.fft` and `ts.nn.functional` that are operators.

For example, `nn_function("relu")` returns the function that calls an overload of `aten::relu`.
`namespace("fft")` returns `{"rfft": "aten::fft_rfft", ...}`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ts.errors import missing_attribute
from ts.ops import registry


def namespace(name: str) -> dict[str, str]:
    """Return a dict from function name to operator name for namespace "linalg", "special" or "fft"."""
    prefix = f"aten::{name}_"
    return {n.removeprefix(prefix): n for n in registry.names() if n.startswith(prefix)}


def nn_function(name: str) -> Any:
    """Return the operator function `ts.nn.functional.name`. Raise AttributeError for unknown names."""
    if not registry.records(f"aten::{name}"):
        raise missing_attribute(
            "module 'ts.nn.functional'", name, lambda: dir(sys.modules["ts.nn.functional"])
        )
    return registry.function(name)


def namespace_attributes(
    name: str, attributes: dict[str, Any], names: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` for the module of the namespace `name`.

    The first access to an operator function adds the function to `attributes`, the dictionary of the module.
    `names` are the public names that the module itself defines.
    """

    def get_attribute(attribute: str) -> Any:
        operator = f"{name}_{attribute}"
        if not registry.records(f"aten::{operator}"):
            raise missing_attribute(f"module 'ts.{name}'", attribute, list_attributes)
        function = attributes[attribute] = registry.function(operator)
        return function

    def list_attributes() -> list[str]:
        return sorted({*names, *namespace(name)})

    return get_attribute, list_attributes
