"""Debug information of archives (source map with a string table), which locates offsets in a source file.

A debug record stores pairs of an offset and a source range, sorted by offset. Example:

    data = write_source_locations([(192, range)])     the bytes of a record
    read_source_locations(data)(200)                  a range with equal source text, or None

A record contains each source line once, in a string table. If a record is damaged, only its source locations
are lost.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NoReturn

from ts._core.thread import deadline
from ts.archive.pickler import Pickler
from ts.archive.unpickler import Global, Unpickler
from ts.errors import ArchiveError
from ts.ir.source import Source, SourceRange
from ts.ir.types import ANY

_FORMAT: Final = "FORMAT_WITH_STRING_TABLE"
_MAX_SOURCE_CHARS: Final = 1 << 26  # maximum size of one source in characters
_MAX_LINES: Final = 1 << 31  # upper bound of line numbers and character positions, exclusive
# The range of an empty source, which stands for an unknown location. Layout: ((string indices of the lines,
# string index of the file name, number of the first line), start, end). Index 0 is the empty string.
_UNKNOWN_LOCATION: Final[tuple[Any, ...]] = (([0], 0, 0), 0, 0)


def write_source_locations(locations: Iterable[tuple[int, SourceRange | None]]) -> bytes:
    """Return the debug record of a file, given (offset, range) pairs. None is an unknown location."""
    string_indices: dict[str, int] = {"": 0}
    sources: dict[Source, tuple[Any, ...]] = {}
    entries = []
    for tag, (offset, range) in enumerate(locations):
        if range is None or not range.location():
            entries.append((offset, _UNKNOWN_LOCATION, tag))
            continue
        range = range.origin() or range
        source = sources.get(range.source)
        if source is None:
            lines = [
                string_indices.setdefault(line, len(string_indices))
                for line in range.source.text.splitlines(keepends=True)
            ]
            name = string_indices.setdefault(range.source.filename or "", len(string_indices))
            source = sources[range.source] = (lines, name, range.source.first_line)
        entries.append((offset, (source, range.start, range.end), tag))
    record = (_FORMAT, tuple(string_indices), tuple(entries))
    # The type is ANY, because a tuple type would have to list an element type for each location.
    return Pickler(str, str, _no_tensor).dump(record, ANY)


def _no_tensor(tensor: object) -> NoReturn:
    raise ArchiveError("invalid debug record: it refers to a tensor storage")


def read_source_locations(data: bytes) -> Callable[[int], SourceRange | None]:
    """Return a function `find_range(offset)` for a debug record.

    `find_range` returns the source range at a file offset, or None. It parses the record `data` at its first
    call.
    """
    ranges: list[tuple[int, SourceRange]] | None = None

    def find_range(offset: int) -> SourceRange | None:
        nonlocal ranges
        if ranges is None:
            try:
                ranges = _entries(Unpickler(data, _name, _no_tensor).load())
            except ArchiveError:
                ranges = []
        index = bisect_right(ranges, offset, key=lambda entry: entry[0])
        return ranges[index - 1][1] if index else None

    return find_range


def _name(module: str, name: str) -> Global:
    if module == "torch.jit._pickle":
        return Global(name, lambda value, *rest: value)
    raise ArchiveError(f"invalid debug record: it refers to the class or function {module}.{name}")


def _entries(record: Any) -> list[tuple[int, SourceRange]]:
    """Return the pairs (file offset, source range) of a parsed debug record.

    The record has the current format, with a string table, or the older format without one.
    """
    match record:
        case (str(form), strings, entries) if form == _FORMAT:
            sources = _Sources(strings)
        case _:
            sources, entries = _Sources(None), record
    try:
        ranges = [(offset, sources.range(*range)) for offset, range, *_ in entries]
        if not all(isinstance(offset, int) for offset, _ in ranges):
            raise ValueError("expected an int as the position in the file")
        return ranges
    except (TypeError, ValueError, IndexError) as error:
        raise ArchiveError(f"invalid debug record: {error}") from error


def _is_count(x: Any) -> bool:
    """Return whether `x` is valid as a line number or as the position of a character."""
    return isinstance(x, int) and 0 <= x < _MAX_LINES


class _Sources:
    """Cache of the `Source` objects that were decoded from a debug record."""

    def __init__(self, strings: Sequence[str] | None) -> None:
        self.strings = strings
        self.sources_by_id: dict[int, tuple[object, Source]] = {}

    def range(self, source: Any, start: Any, end: Any) -> SourceRange:
        if not _is_count(start) or not _is_count(end):
            raise ValueError("expected a source range of two ints")
        cached = self.sources_by_id.get(id(source))
        if cached is None:
            cached = self.sources_by_id[id(source)] = source, self._source(*source)
        return SourceRange(cached[1], start, end)

    def _source(self, source: Any, name: Any, line: Any) -> Source:
        if self.strings is not None:
            lines = [self.strings[index] for index in source]
            size = sum(map(len, lines))
            if size > _MAX_SOURCE_CHARS:
                raise ValueError(f"the source has {size} characters, more than allowed")
            deadline.charge(0, bytes=size)
            source = "".join(lines)
            name = self.strings[name]
        if not isinstance(source, str) or not isinstance(name, str | None) or not _is_count(line):
            raise ValueError("expected a string as the source")
        return Source(source, name, line)
