"""Experimental parts of fx: `optimization`, `proxy_tensor`, `rewriter` and `symbolic_shapes`."""

from __future__ import annotations

import importlib
from typing import Any

from ts.unsupported import names_for

_absent = names_for(__name__)
_SUBMODULES = frozenset({"optimization", "rewriter", "symbolic_shapes"})


def __getattr__(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}") if name in _SUBMODULES else _absent(name)
