"""Control flow as operators: `cond`, `while_loop`, `map`, `scan`, `associative_scan`.

    ts.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))

In eager code the functions run as they are. While somebody exports, each becomes a graph of its own, and the
call a node on them, which the program keeps. Both ways the operands, and what the functions make of them,
are checked as in PyTorch.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ts._higher_order_ops.associative_scan import associative_scan
from ts._higher_order_ops.cond import cond
from ts._higher_order_ops.map import map
from ts._higher_order_ops.operator import HigherOrderOperator, operators
from ts._higher_order_ops.scan import scan
from ts._higher_order_ops.while_loop import while_loop
from ts.absent import names_for

__all__ = ["HigherOrderOperator", "associative_scan", "cond", "map", "operators", "scan", "while_loop"]

__getattr__ = names_for(__name__)


class _Functions(ModuleType):
    """The functions have the names of the modules that they are in, and those must not take their place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in __all__):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Functions
