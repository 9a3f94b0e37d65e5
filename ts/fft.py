"""Fast Fourier transforms. For example, `ts.fft.fft` is the operator `aten::fft_fft`."""

from __future__ import annotations

from typing import Any

from ts.errors import missing_attribute
from ts.ops import registry


def __getattr__(name: str) -> Any:
    names = registry.namespace("fft")
    if name not in names:
        raise missing_attribute("module 'ts.fft'", name, __dir__)
    function = globals()[name] = registry.function(names[name].removeprefix("aten::"))
    return function


def __dir__() -> list[str]:
    return sorted(registry.namespace("fft"))
