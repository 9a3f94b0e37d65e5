"""Functions of neural networks: operators, and the Python forms of those that take names for numbers.

ts.nn.functional.relu(x), ts.nn.functional.linear(x, weight, bias)
"""

from __future__ import annotations

from typing import Any

from ts.ops import registry


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'ts.nn.functional' has no attribute '{name}'")
    return registry.nn_function(name)
