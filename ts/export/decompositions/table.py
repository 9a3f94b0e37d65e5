"""Which operators are not of the core set, and the functions that say them in operators that are.

    @decomposes("aten::t")                a function with the operator's arguments, that calls `ts.ops.aten`
    def t(x): ...

A decomposition is an ordinary function of tensors: run eagerly it gives what its operator gives.  It gives
NotImplemented where the operator is to stay for these arguments.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
Table = dict[str, Callable[..., Any]]

_known: Final[Table] = {}
_FAMILIES: Final = (
    "shapes", "scatters", "factories", "arithmetic", "activations", "reductions", "products", "layers",
    "recurrent", "indexing", "losses",
)  # fmt: skip


def decomposes(*keys: str) -> Callable[[F], F]:
    """Register a function as the decomposition of operators, by name and overload."""

    def register(function: F) -> F:
        for key in keys:
            _known[key] = function
        return function

    return register


@cache
def core() -> Table:
    """All decompositions, by the keys of operators: "aten::add.Tensor"."""
    for family in _FAMILIES:
        importlib.import_module(f"{__package__}.{family}")
    return dict(_known)
