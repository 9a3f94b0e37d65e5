"""Source text and source locations (spans), quoted in diagnostics with a caret or underline.

A `SourceRange` has a start and an end (exclusive), as character offsets into the text of a `Source`. Graph
text shows its location, and errors quote its source::

    >>> source = Source("def f(x):\\n    return x + y\\n", "model.py")
    >>> range = source.range_at(2, 15, 2, 16)
    >>> range.location()
    'model.py:2:15'
    >>> print(range.highlight(), end="")
      File "model.py", line 2
    def f(x):
        return x + y
                   ~ <--- HERE
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

CONTEXT_LINES = 2  # lines quoted before and after a range


class Source:
    """Program text with its file name and position in the file.

    text                         the text in the file, including indentation
    first_line                   line number of the first line of `text`
    leading_whitespace_removed   number of columns removed from every line before parsing
    """

    __slots__ = (
        "_line_starts",
        "filename",
        "first_line",
        "is_ascii",
        "leading_whitespace_removed",
        "origins",
        "text",
    )

    def __init__(
        self, text: str, filename: str | None = None, first_line: int = 1, leading_whitespace_removed: int = 0
    ) -> None:
        self.text = text
        self.filename = filename
        self.first_line = first_line
        self.leading_whitespace_removed = leading_whitespace_removed
        self.is_ascii = text.isascii()
        self._line_starts: list[int] | None = None
        # Function that returns the source range in the original program for an offset in this text, or None.
        # Only printed source has such a function.
        self.origins: Callable[[int], SourceRange | None] | None = None

    def line_starts(self) -> list[int]:
        """Return the offsets of the lines' first characters."""
        starts = self._line_starts
        if starts is None:
            starts = [0]
            find = self.text.find
            newline_offset = find("\n")
            while newline_offset >= 0:
                starts.append(newline_offset + 1)
                newline_offset = find("\n", newline_offset + 1)
            self._line_starts = starts
        return starts

    def line_index(self, offset: int) -> int:
        """Return the index (from 0) of the line that contains `offset`."""
        return bisect_right(self.line_starts(), offset) - 1

    def offset_at(self, line: int, column: int) -> int:
        """Return the character offset for a position in the numbering of Python's `ast` module.

        `line` starts at 1. `column` counts UTF-8 bytes of the dedented line.
        """
        starts = self.line_starts()
        if line > len(starts):
            return len(self.text)
        start = starts[line - 1]
        if not self.is_ascii:
            end = starts[line] if line < len(starts) else len(self.text)
            begin = start + self.leading_whitespace_removed
            encoded = self.text[begin:end].encode("utf-8", "surrogatepass")
            column = len(encoded[:column].decode("utf-8", "ignore"))
        return min(start + self.leading_whitespace_removed + column, len(self.text))

    def range_at(self, line: int, column: int, end_line: int, end_column: int) -> SourceRange:
        """Return the range between two positions in the numbering of `ast`."""
        return SourceRange(self, self.offset_at(line, column), self.offset_at(end_line, end_column))


class SourceRange:
    """Range of characters `start` to `end` (exclusive) of `source`."""

    __slots__ = ("end", "source", "start")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end

    @property
    def line(self) -> int:
        """Number of the first line, counted as in the file."""
        return self.source.first_line + self.source.line_index(self.start)

    @property
    def column(self) -> int:
        """Column of the first character in the file, counted from 0."""
        return self.start - self.source.line_starts()[self.source.line_index(self.start)]

    def text(self) -> str:
        """Return the characters of the range."""
        return self.source.text[self.start : self.end]

    def location(self) -> str:
        """Return ``file.py:3:4``, or an empty string if the source has no file name."""
        origin = self.origin()
        if origin is not None:
            return origin.location()
        if not self.source.filename:
            return ""
        return f"{self.source.filename}:{self.line}:{self.column}"

    def origin(self) -> SourceRange | None:
        """Return the range in the program from which the printed source was created, or None if unknown."""
        return None if self.source.origins is None else self.source.origins(self.start)

    def highlight(self, function: str = "") -> str:
        """Return the lines around the range, underlined as in PyTorch's error messages."""
        return _quote(self, function)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SourceRange)
            and self.source is other.source
            and self.start == other.start
            and self.end == other.end
        )

    def __hash__(self) -> int:
        return hash((id(self.source), self.start, self.end))

    def __str__(self) -> str:
        return self.highlight()

    def __repr__(self) -> str:
        return f"SourceRange({self.location() or f'{self.start}:{self.end}'})"


def _quote(range: SourceRange, function: str) -> str:
    text = range.source.text
    start, end = range.start, min(range.end, len(text))
    if start == 0 and end == len(text):
        return text
    if start > len(text):
        return ""
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    first = range.source.line_index(start)
    last = max(first, range.source.line_index(max(start, end - 1)))

    out = []
    if range.source.filename:
        location = f'  File "{range.source.filename}", line {range.line}'
        out.append(f"{location}, in {function}" if function else location)
    out.extend(lines[max(0, first - CONTEXT_LINES) : first])

    starts = range.source.line_starts()
    carets: list[int] = []
    for index in _line_range(first, min(last, len(lines) - 1)):
        line = lines[index]
        out.append(line)
        left = max(start - starts[index], 0)
        left += len(line[left:]) - len(line[left:].lstrip(" \t"))
        right = min(end - starts[index], len(line))
        if right > left:
            out.append(_blank(line[:left]) + "~" * _columns(line[left:right]))
            carets.append(len(out) - 1)
    if carets:
        out[carets[-1]] += " <--- HERE"
    out.extend(lines[last + 1 : last + 1 + CONTEXT_LINES])
    text = "\n".join(out)
    return text if text.endswith("\n") else text + "\n"


def _blank(string: str) -> str:
    """Return blanks of the width of the text. Tabs are kept, since their width depends on the terminal."""
    return "\t".join([" " * _columns(segment) for segment in string.split("\t")])


def _columns(string: str) -> int:
    """Return the terminal width of a text: 2 columns for East Asian wide letters, 0 for combining marks."""
    if string.isascii():
        return len(string)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(letter) else 1 + (east_asian_width(letter) in "WF") for letter in string)


def _line_range(first: int, last: int) -> range:
    return range(first, last + 1)


class BuiltinRange(SourceRange):
    """Source range in the text of a builtin function. `call` is the range of its call in a program.

    As in PyTorch, graph text shows the range in the builtin function, such as `<string>:5:9`. Error messages
    show the range of the call.
    """

    __slots__ = ("call",)

    def __init__(self, range: SourceRange, call: SourceRange) -> None:
        super().__init__(range.source, range.start, range.end)
        self.call = call

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BuiltinRange) and self.call == other.call and super().__eq__(other)

    def __hash__(self) -> int:
        return hash((super().__hash__(), self.call))


def in_program(range: SourceRange | None) -> SourceRange | None:
    """Return `range`, or the range of the call in the program if `range` is in a builtin function."""
    return range.call if isinstance(range, BuiltinRange) else range


class SourceLocation(SourceRange):
    """Source range that was parsed from graph text. Only its location, such as ``file.py:3:4``, is known."""

    __slots__ = ("_location",)

    def __init__(self, location: str) -> None:
        super().__init__(Source(""), 0, 0)
        self._location = location

    def location(self) -> str:
        """Return ``file.py:3:4`` as the graph text spells it."""
        return self._location

    def highlight(self, function: str = "") -> str:
        """Return the file name and line number as in a traceback. The source text is unknown."""
        filename, line, _ = self._location.rsplit(":", 2)
        return f'  File "{filename}", line {line}' + (f", in {function}\n" if function else "\n")
