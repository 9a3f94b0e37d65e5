"""Source map of printed source: the source range of the node that each part of the text was printed for.

Example:

    marks = SourceMap()
    text = "y = " + marks.put(range, "torch.neg(x)")
    marks.split(text)       # ("y = torch.neg(x)", [(4, range)])

`put` adds a mark to a text. Marked texts may be concatenated. `split` returns the text without marks, and the
offset and source range of each mark.
"""

from __future__ import annotations

import re
from typing import Final

from ts.ir.source import SourceRange

_MARK: Final = re.compile("\x01(\\d+)\x02")


class SourceMap:
    """Table of source ranges. A mark in printed text contains an index into this table."""

    def __init__(self) -> None:
        self.ranges: list[SourceRange | None] = []

    def put(self, range: SourceRange | None, printed: str) -> str:
        """Return `printed` behind a mark that refers to `range`."""
        self.ranges.append(range)
        return f"\x01{len(self.ranges) - 1}\x02{printed}"

    def split(self, marked_source: str) -> tuple[str, list[tuple[int, SourceRange | None]]]:
        """Return the text without marks, and the (offset, range) pairs of the marks."""
        locations = []
        removed = 0
        for mark in _MARK.finditer(marked_source):
            locations.append((mark.start() - removed, self.ranges[int(mark[1])]))
            removed += len(mark[0])
        return plain(marked_source), locations


def plain(marked_source: str) -> str:
    """Return the text without marks."""
    return _MARK.sub("", marked_source) if "\x01" in marked_source else marked_source
