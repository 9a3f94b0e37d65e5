"""Passes over graphs: `torch.fx.passes`."""

from __future__ import annotations

import importlib
from typing import Any

from ts.unsupported import names_for

_absent = names_for(__name__)
_SUBMODULES = frozenset({"infra", "operator_support", "shape_prop", "split_module", "tools_common", "utils"})


def __getattr__(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}") if name in _SUBMODULES else _absent(name)
