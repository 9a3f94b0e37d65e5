"""PyTorch's setting of the library for quantized products.

The setting is stored but has no effect. Unknown names of libraries raise RuntimeError. Example:

    ts.backends.quantized.engine = "qnnpack"
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Final

_ENGINES: Final = ["qnnpack", "onednn", "x86", "fbgemm"]


class QuantizedEngine(ModuleType):
    """Class of the module object `ts.backends.quantized`. It checks assignments to `engine`."""

    _engine = "x86"

    @property
    def engine(self) -> str:
        """Name of the selected engine.

        Assigning a name that is none of PyTorch's engines raises RuntimeError.
        """
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
        """List of the names that `engine` accepts."""
        return list(_ENGINES)


sys.modules[__name__].__class__ = QuantizedEngine
