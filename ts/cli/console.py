"""Console output, in color on a terminal if the package rich is installed, otherwise plain text.

Input: data and an output stream. Output: text on this stream.

The example prints a table:

    heading, rows = ("backend", "state"), [("cpu", "present"), ("cuda", "not available")]
    table(heading, rows, sys.stdout)
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

_FRAME_LINE = re.compile(r'^ *File "')
_CARET = re.compile(r"^ *~+ *<--- HERE|^ *~+$")
# Highlighting of graphs and bytecode: regular expression -> style. The expressions match operators and
# opcodes, values and registers, and source locations.
_STAGES = {
    r"\b\w+::\w+|\b[A-Z][A-Z0-9_]{2,}\b|\b(?:graph|block\d+|return)\b": "bold",
    r"%[\w.]+|\br\d+\b": "cyan",
    r"# .*": "dim",
}


# Security: the output escapes control characters, because names in untrusted files may contain terminal
# control codes.
_CONTROL_CHARACTER_ESCAPES = {
    code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"
}


def console(stream: TextIO) -> Any:
    """Return a rich console if `stream` is a terminal and rich is installed, else None."""
    if not stream.isatty():
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(file=stream, highlight=False, soft_wrap=True)


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], stream: TextIO) -> None:
    """Print rows as a table. The heading is printed only on a coloured terminal."""
    screen = console(stream)
    if screen is None:
        widths = [max(len(row[i]) for row in rows) for i in range(len(heading))]
        for row in rows:
            print(" ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip(), file=stream)
        return
    from rich.table import Table
    from rich.text import Text

    rich_table = Table(box=None, pad_edge=False, header_style="bold")
    for i, title in enumerate(heading):
        rich_table.add_column(title, style="cyan" if i == 0 else "")
    for row in rows:
        rich_table.add_row(*map(Text, row))
    screen.print(rich_table)


def sections(entries: Sequence[tuple[str, Sequence[str]]], stream: TextIO) -> None:
    """Print sections with titles. A section with a single line is printed on the line of its title."""
    screen = console(stream)
    entries = [
        (title, [line.translate(_CONTROL_CHARACTER_ESCAPES) for line in lines]) for title, lines in entries
    ]
    width = max(len(title) for title, lines in entries if len(lines) == 1)
    for title, lines in entries:
        is_inline = len(lines) == 1
        heading = title.ljust(width) if is_inline else title
        if screen is None:
            print(
                f"{heading}  {lines[0]}" if is_inline else "\n".join([heading, *(f"  {x}" for x in lines)]),
                file=stream,
            )
            continue
        from rich.text import Text

        screen.print(Text.assemble((heading, "bold"), f"  {lines[0]}" if is_inline else ""))
        for line in () if is_inline else lines:
            screen.print(Text(f"  {line}"))


def program(output: str, stage: str, stream: TextIO) -> None:
    """Print the output of a compiler stage with highlighting: `code` (Python), `graph` or `bytecode`."""
    output = output.translate(_CONTROL_CHARACTER_ESCAPES)
    screen = console(stream)
    if screen is None:
        print(output, file=stream)
        return
    from rich.syntax import Syntax
    from rich.text import Text

    if stage == "code":
        highlighted = Syntax(output, "python", theme="ansi_dark", background_color="default").highlight(
            output
        )
        highlighted.rstrip()
    else:
        highlighted = Text(output)
        for pattern, style in _STAGES.items():
            highlighted.highlight_regex(pattern, style)
    screen.print(highlighted)


def difference(lines: Sequence[str], stream: TextIO) -> None:
    """Print the lines of a diff: removed lines in red, added lines in green."""
    screen = console(stream)
    for line in (line.translate(_CONTROL_CHARACTER_ESCAPES) for line in lines):
        if screen is None:
            print(line, file=stream)
            continue
        from rich.text import Text

        style = {"-": "red", "+": "green", "@": "cyan"}.get(line[:1], "")
        screen.print(Text(line, "bold" if line.startswith(("---", "+++")) else style))


def status(ok: bool, message: str, stream: TextIO) -> None:
    """Print a line that starts with `ok`, or an error message if `ok` is False."""
    message = message.translate(_CONTROL_CHARACTER_ESCAPES)
    screen = console(stream)
    if screen is None:
        print(f"ok  {message}" if ok else message, file=stream)
        return
    if ok:
        from rich.text import Text

        screen.print(Text.assemble(("ok", "bold green"), "  ", message))
        return
    error(message, stream)


def error(message: str, stream: TextIO) -> None:
    """Print an error message. The text before the first colon and source markers are red, locations dim."""
    message = message.translate(_CONTROL_CHARACTER_ESCAPES)
    screen = console(stream)
    if screen is None:
        print(message, file=stream)
        return
    from rich.text import Text

    for index, line in enumerate(message.split("\n")):
        if index == 0:
            title, colon, rest = line.partition(": ")
            screen.print(Text.assemble((title + colon, "bold red"), rest))
        elif _CARET.match(line):
            screen.print(Text(line, "bold red"))
        else:
            screen.print(Text(line, "dim" if _FRAME_LINE.match(line) else ""))


_PROGRESS_DELAY_SECONDS = 1.0  # time that an operation must take before a progress bar is shown


@contextmanager
def progress(description: str, total: int | None = None) -> Iterator[Callable[[], None]]:
    """Show a progress bar while the `with` block runs, if it takes more than a second.

    Yield a function that the block calls after each of the `total` steps. The bar is shown on standard error
    and removed at the end.
    """
    screen = console(sys.stderr)
    if screen is None:
        yield lambda: None
        return
    bar = _Bar(screen, description, total)
    timer = threading.Timer(_PROGRESS_DELAY_SECONDS, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar.advance
    finally:
        timer.cancel()
        bar.close()


class _Bar:
    """Progress bar that a timer shows and the caller advances."""

    def __init__(self, screen: Any, description: str, total: int | None) -> None:
        self._screen, self._description, self._total = screen, description, total
        self._done = 0
        self._progress: Any = None
        self._lock = threading.Lock()
        self._is_over = False

    def show(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._is_over:
                return
            columns = [TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()]
            self._progress = Progress(*columns, console=self._screen, transient=True)
            self._progress.add_task(self._description, total=self._total, completed=self._done)
            self._progress.start()

    def advance(self) -> None:
        with self._lock:
            self._done += 1
            if self._progress is not None:
                self._progress.update(self._progress.task_ids[0], completed=self._done)

    def close(self) -> None:
        with self._lock:
            self._is_over = True
            if self._progress is not None:
                self._progress.stop()
