"""What programs need around tensors: data sets and their batches, DLPack.

    loader = ts.utils.data.DataLoader(dataset, batch_size=32, shuffle=True)

Modules are looked up on first use, as in `ts` itself.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

_MODULES: Final = frozenset({"checkpoint", "data", "dlpack", "hooks"})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"ts.utils.{name}")
    raise AttributeError(f"module 'ts.utils' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
