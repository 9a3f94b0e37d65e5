"""What programs need around tensors: data sets and their batches, DLPack.

    loader = ts.utils.data.DataLoader(dataset, batch_size=32, shuffle=True)

Modules are looked up on first use, as in `ts` itself.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

from ts.absent import names_for

_MODULES: Final = frozenset({"_pytree", "checkpoint", "data", "dlpack", "hooks", "model_zoo"})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"ts.utils.{name}")
    return names_for(__name__)(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
