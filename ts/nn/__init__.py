"""Neural networks: `ts.nn.functional`."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name == "functional":
        return importlib.import_module("ts.nn.functional")
    raise AttributeError(f"module 'ts.nn' has no attribute '{name}'")
