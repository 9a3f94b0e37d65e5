"""Table of the functions on symbolic numbers that graph nodes may call: name in archives -> function.

FUNCTIONS["_operator.floordiv"]        operator.floordiv
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from ts.python_api import sym_functions

_ARITHMETIC: Final = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "neg", "pos", "abs", "and_",
    "or_", "xor", "not_", "lt", "le", "gt", "ge", "eq", "ne", "getitem",
)  # fmt: skip
_ROUNDING: Final = ("trunc", "floor", "ceil")

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{f"_operator.{name}": getattr(operator, name) for name in _ARITHMETIC},
    **{f"math.{name}": getattr(math, name) for name in _ROUNDING},
    "builtins.round": round,
    **{
        f"torch.{name}": getattr(sym_functions, name)
        for name in dir(sym_functions)
        if name.startswith(("sym_", "_sym_"))
    },
}
