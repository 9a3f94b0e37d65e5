"""`torch.export.decomp_utils`: the class of the decomposition table that `default_decompositions` returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.unsupported import names_for

__all__ = ["CustomDecompTable"]

__getattr__ = names_for(__name__)


class CustomDecompTable(dict[Any, Callable[..., Any]]):
    """Dictionary: operator -> decomposition. Users may remove and replace decompositions."""

    def copy(self) -> CustomDecompTable:
        """Return a table with the same entries."""
        return CustomDecompTable(self)

    def __or__(self, other: Any) -> CustomDecompTable:  # type: ignore[override]
        return CustomDecompTable(dict.__or__(self, other))

    def materialize(self) -> dict[Any, Callable[..., Any]]:
        """Return the table as a plain dictionary."""
        return dict(self)
