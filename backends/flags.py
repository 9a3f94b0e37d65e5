"""Context managers that set PyTorch's settings for other libraries temporarily.

The settings are stored but have no effect. Operators of `ts` are deterministic and always compute float32 in
full precision. In this example, `cudnn.enabled` is False inside of the block:

    with ts.backends.cudnn.flags(enabled=False):
        ...
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self


@contextmanager
def flags_of(module: str, **values: Any) -> Iterator[None]:
    """Set attributes of the module named `module` in a `with` block, and restore them afterwards."""
    attributes = vars(sys.modules[module])
    before = {name: attributes[name] for name in values}
    attributes.update(values)
    try:
        yield
    finally:
        attributes.update(before)


class Verbose:
    """Context manager for PyTorch's verbose mode of MKL or oneDNN, which has no effect in `ts`."""

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> Self | None:
        return self if self.enable else None

    def __exit__(self, *error: object) -> None:
        """Do nothing, because the verbose mode has no effect."""
