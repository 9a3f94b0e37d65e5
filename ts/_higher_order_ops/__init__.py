"""Control flow as operators: `cond`, `while_loop`, `map`, `scan`, `associative_scan`.

The operators take functions as arguments, such as the two branches of `cond`:

    ts.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))

Eager code runs these functions directly. An export records each function as a subgraph.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ts.unsupported import names_for

if TYPE_CHECKING:
    from ts._higher_order_ops.associative_scan import associative_scan
    from ts._higher_order_ops.cond import cond
    from ts._higher_order_ops.map import map
    from ts._higher_order_ops.operator import HigherOrderOperator, operators
    from ts._higher_order_ops.scan import scan
    from ts._higher_order_ops.while_loop import while_loop

__all__ = ["HigherOrderOperator", "associative_scan", "cond", "map", "operators", "scan", "while_loop"]

_absent = names_for(__name__)


def __getattr__(name: str) -> Any:
    """Import a name of the package on first access."""
    if name not in __all__:
        spec = PathFinder.find_spec(f"{__name__}.{name}", __path__)
        return import_module(f"{__name__}.{name}") if spec else _absent(name)
    submodule = name if name not in ("HigherOrderOperator", "operators") else "operator"
    attribute = globals()[name] = getattr(import_module(f"{__name__}.{submodule}"), name)
    return attribute


class _Functions(ModuleType):
    """Module class of this package.

    It keeps functions such as `cond` from being replaced by submodules of the same name.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in __all__):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Functions
