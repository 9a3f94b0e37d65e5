"""FileCheck, which checks the order of texts in graphs and other multi-line strings.

The example requires "prim::If" in the graph's text, "block0" in the next line, and "return" after that.
"aten::add" must not occur in between:

    FileCheck().check("prim::If").check_next("block0").check_not("aten::add").check("return").run(graph)

`FileCheck().run(checks, text)` reads the checks from comments, such as `# CHECK: prim::If`. Rules and error
texts are those of PyTorch's class, which follows LLVM's program FileCheck.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, Final, NamedTuple

from ts.ir.source import Source, SourceRange

_PREFIX: Final = re.compile(r"# *CHECK")
_KIND: Final = re.compile(r"(?:-(NEXT|SAME|NOT|DAG|REGEX|SOURCE-HIGHLIGHTED|COUNT(-EXACTLY)?-(\d+)))?:")


class _Kind(Enum):
    CHECK = "CHECK"
    NEXT = "CHECK-NEXT"
    SAME = "CHECK-SAME"
    NOT = "CHECK-NOT"
    COUNT = "CHECK-COUNT"
    DAG = "CHECK-DAG"
    SOURCE_HIGHLIGHTED = "CHECK-SOURCE-HIGHLIGHTED"
    REGEX = "CHECK-REGEX"


class _Check(NamedTuple):
    kind: _Kind
    text: str
    times: int = 0

    def __str__(self) -> str:
        count = f"-{self.times}" if self.kind is _Kind.COUNT else ""
        return f"{self.kind.value}{count}: {self.text}"


class FileCheck:
    """List of checks, added by methods that return `self`. `run` applies them to a text or graph.

    If a check fails, `run` raises a RuntimeError, whose message contains the check and the lines around the
    place.
    """

    def __init__(self) -> None:
        self._checks: list[_Check] = []
        self._has_run = False

    def check(self, text: str) -> FileCheck:
        """Add the check that `text` occurs behind the previous match."""
        return self._add(_Kind.CHECK, text)

    def check_next(self, text: str) -> FileCheck:
        """Add the check that `text` occurs in the line after that of the previous match."""
        return self._add(_Kind.NEXT, text)

    def check_same(self, text: str) -> FileCheck:
        """Add the check that `text` occurs after the previous match, in the same line."""
        return self._add(_Kind.SAME, text)

    def check_not(self, text: str) -> FileCheck:
        """Add the check that `text` does not occur between the previous and the next match."""
        return self._add(_Kind.NOT, text)

    def check_dag(self, text: str) -> FileCheck:
        """Add the check that `text` occurs. Consecutive checks of this kind match in any order."""
        return self._add(_Kind.DAG, text)

    def check_regex(self, text: str) -> FileCheck:
        """Add the check that the regular expression `text` matches somewhere after the previous match."""
        return self._add(_Kind.REGEX, text)

    def check_source_highlighted(self, text: str) -> FileCheck:
        """Add the check that `text` occurs and is underlined by `~` in the next line."""
        return self._add(_Kind.SOURCE_HIGHLIGHTED, text)

    def check_count(self, str: str, count: int, exactly: bool = False) -> FileCheck:
        """Add the check that `str` occurs at least `count` times, or exactly `count` times if `exactly`.

        Raise TypeError for a negative count, and RuntimeError for a count of 0 that is not exact.
        """
        if count < 0:
            raise TypeError(f"check_count(): the count must not be negative, found {count}")
        if count == 0 and not exactly:
            raise RuntimeError("Count == 0 && !exactly doesn't do anything")
        if count:
            self._add(_Kind.COUNT, str, count)
        return self._add(_Kind.NOT, str) if exactly else self

    def run(self, *args: Any, **kwargs: Any) -> None:
        """Apply the checks to the last argument, a text or graph.

        If there are two arguments, the first one is a text with further checks in comments.
        """
        self._has_run = True
        values = [*args, *kwargs.values()]
        if len(values) not in (1, 2) or not all(isinstance(value, str) for value in values[:-1]):
            raise TypeError(
                "run(): incompatible function arguments: expected a text or graph, or checks_file and one"
            )
        from ts.ir.graph import Graph

        if not isinstance(values[-1], str | Graph):
            raise TypeError(f"run(): incompatible function arguments: found {type(values[-1]).__name__}")
        if len(values) == 2:
            self._parse(values[0])
        if not self._checks:
            raise RuntimeError("No checks have been added to this instance ofFilecheck! Check for bad input.")
        _Run(str(values[-1])).apply(self._checks)

    def __repr__(self) -> str:
        return "\n\t".join(["FileCheck checks:", *map(str, self._checks)]) + "\n"

    def __del__(self) -> None:
        """Print a warning if the checks were never applied, as PyTorch does."""
        if not self._has_run:
            print(f"You have not run this instance of FileCheck!\n{self!r}", end="")

    def _add(self, kind: _Kind, text: str, count: int = 0) -> FileCheck:
        if not isinstance(text, str):
            raise TypeError(f"the text of a check must be a string, found {type(text).__name__}")
        self._checks.append(_Check(kind, text, count))
        return self

    def _parse(self, checks: str) -> None:
        """Add the checks in the comments of `checks`, such as `# CHECK-NEXT: text`."""
        for found in _PREFIX.finditer(checks):
            kind = _KIND.match(checks, found.end())
            if kind is None:
                quoted = SourceRange(Source(checks), found.end(), found.end() + 1).highlight()
                raise RuntimeError(f"Could not parse check at:\n{_quoted(quoted)}Check for bad input.")
            text = checks[kind.end() :].split("\n", 1)[0].strip()
            name, exactly, count = kind.groups()
            if count:
                self.check_count(text, int(count), bool(exactly))
            else:
                self._add(_Kind(f"CHECK-{name}" if name else "CHECK"), text)


class _Run:
    """Application of checks to one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.source = Source(text)

    def apply(self, checks: list[_Check]) -> None:
        """Apply the checks in order. Raise RuntimeError at the first one that fails."""
        end = 0  # end of the previous match
        nots: list[_Check] = []
        at = 0
        while at < len(checks):
            check = checks[at]
            at += 1
            if check.kind is _Kind.NOT:
                nots.append(check)
                continue
            group = [check]
            while check.kind is _Kind.DAG and at < len(checks) and checks[at].kind is _Kind.DAG:
                group.append(checks[at])
                at += 1
            matches = [self.match(each, end) for each in group]
            self.exclude(nots, end, min(start for start, _ in matches))
            end, nots = max(stop for _, stop in matches), []
        self.exclude(nots, end, len(self.text))

    def match(self, check: _Check, begin: int) -> tuple[int, int]:
        """Return start and end index of the match of a check. The search starts at index `begin`."""
        text = check.text
        if check.kind is _Kind.REGEX:
            found = re.compile(text).search(self.text[begin:])
            if found is None:
                raise RuntimeError(
                    f"Expected to find regex {_literal(text)} but did not find it\n"
                    f"Searched string:\nFrom {check}\n"
                )
            return begin + found.start(), begin + found.end()
        if check.kind is _Kind.SOURCE_HIGHLIGHTED:
            return self.match_highlighted(check, begin)
        if check.kind is _Kind.NEXT:
            line = self.find(check, "\n", begin) + 1
            start = self.find(check, text, line)
            self.reject(check, "\n", line, start)
            return start, start + len(text)
        start = self.find(check, text, begin)
        if check.kind is _Kind.COUNT:
            stop = start + len(text)
            for _ in range(check.times - 1):
                stop = self.find(check, text, stop) + len(text)
            return start, stop
        if check.kind is _Kind.SAME:
            self.reject(check, "\n", begin, start)
        return start, start + len(text)

    def match_highlighted(self, check: _Check, begin: int) -> tuple[int, int]:
        """Match an occurrence of a text that is underlined in the next line.

        Occurrences that are not underlined are skipped.
        """
        text = check.text
        first = start = self.find(check, text, begin)
        while start >= 0:
            line_start = self.text.rfind("\n", 0, start) + 1
            line_end = self.text.find("\n", start)
            mark = line_end + 1 + start - line_start
            if line_end >= 0 and self.text[mark : mark + len(text)] == "~" * len(text):
                return start, mark + len(text)
            start = self.text.find(text, start + 1)
        quoted = self.quote(first, first + len(text))
        raise RuntimeError(f'Expected to find "{text}"highlighted but it is not.\n{quoted}')

    def find(self, check: _Check, text: str, begin: int) -> int:
        """Return the first position of `text` from `begin`."""
        at = self.text.find(text, begin)
        if at < 0:
            quoted = self.quote(begin, len(text))
            raise RuntimeError(
                f"Expected to find {_literal(text)} but did not find it\n"
                f"Searched string:\n{quoted}From {check}\n"
            )
        return at

    def exclude(self, checks: list[_Check], begin: int, end: int) -> None:
        """Apply CHECK-NOT checks to the range from `begin` to `end`."""
        for check in checks:
            self.reject(check, check.text, begin, end)

    def reject(self, check: _Check, text: str, begin: int, end: int) -> None:
        """Raise RuntimeError if `text` occurs in the range from `begin` to `end`."""
        at = self.text.find(text, begin, end)
        if at >= 0:
            quoted = self.quote(at, at + len(text))
            raise RuntimeError(f"Expected to not find {_literal(text)} but found it\n{quoted}From {check}\n")

    def quote(self, start: int, end: int) -> str:
        """Return the lines around a range of the text.

        The range is underlined, unless `end` precedes `start`.
        """
        return _quoted(SourceRange(self.source, start, max(start, end)).highlight())


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"') + '"'


def _quoted(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
