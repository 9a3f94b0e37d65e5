"""Namespaces of C++ extension classes, `ts.classes.namespace.Name`. `ts` has no such classes.

Example: `ts.classes.pyg.HashMap` raises a RuntimeError, because the class does not exist.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ts.ops.extension_libraries import load_library, loaded_libraries

__all__ = ["load_library", "loaded_libraries"]


class _ClassNamespace(ModuleType):
    """Namespace that contains no classes."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = self.__name__.rpartition(".")[2]
        raise RuntimeError(
            f"Tried to instantiate class '{namespace}.{name}', but it does not exist! Ensure that it is "
            "registered via torch::class_"
        )


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    namespace = _ClassNamespace(f"torch.classes.{name}")
    vars(sys.modules[__name__])[name] = namespace
    return namespace
