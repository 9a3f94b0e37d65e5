"""The library of quantized products, which is always our own: the choice of another is remembered.

    ts.backends.quantized.engine = "qnnpack"
    ts.backends.quantized.engine = "other"        RuntimeError
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Final

_ENGINES: Final = ["qnnpack", "onednn", "x86", "fbgemm"]


class QuantizedEngine(ModuleType):
    """This module, whose attribute is checked."""

    _engine = "x86"

    @property
    def engine(self) -> str:
        """The name that was set last; RuntimeError where one is set that PyTorch does not know."""
        return self._engine

    @engine.setter
    def engine(self, name: str) -> None:
        if name == "none":
            raise RuntimeError("quantized engine NoQEngine is not supported")
        if name not in _ENGINES:
            raise RuntimeError(f"{name} is not a valid value for quantized engine")
        type(self)._engine = name

    @property
    def supported_engines(self) -> list[str]:
        """The names that may be set."""
        return list(_ENGINES)


sys.modules[__name__].__class__ = QuantizedEngine
