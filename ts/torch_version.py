"""Version of PyTorch that `ts` implements, as a string that can be compared with strings and tuples.

The parts of versions are compared as numbers:

>>> TorchVersion("2.13.0+ts") >= (2, 1), TorchVersion("2.13.0") < "2.9"
(True, False)
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["TorchVersion"]


def _release(version: Any) -> tuple[int, ...] | None:
    if isinstance(version, str):
        match = re.match(r"\s*v?(\d+(?:\.\d+)*)", version)
        return None if match is None else tuple(map(int, match[1].split(".")))
    if isinstance(version, (tuple, list)):
        return tuple(int(component) for component in version)
    return None


class TorchVersion(str):
    """Version string. Comparisons are by release number."""

    __slots__ = ()

    def _compare(self, other: Any) -> int | None:
        own_release, other_release = _release(self), _release(other)
        if own_release is None or other_release is None:
            return None
        length = max(len(own_release), len(other_release))
        own_release, other_release = (v + (0,) * (length - len(v)) for v in (own_release, other_release))
        return (own_release > other_release) - (own_release < other_release)

    def __lt__(self, other: Any) -> bool:
        order = self._compare(other)
        return NotImplemented if order is None else order < 0

    def __le__(self, other: Any) -> bool:
        order = self._compare(other)
        return NotImplemented if order is None else order <= 0

    def __gt__(self, other: Any) -> bool:
        order = self._compare(other)
        return NotImplemented if order is None else order > 0

    def __ge__(self, other: Any) -> bool:
        order = self._compare(other)
        return NotImplemented if order is None else order >= 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and str(self) == str(other):
            return True
        return self._compare(other) == 0

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__
