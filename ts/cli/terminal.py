"""What the command line shows: colours on a terminal where rich is installed, plain text everywhere else.

In: what is to be shown, and the stream it goes to; out: the same words with or without colours.

    heading, rows = ("backend", "state"), [("cpu", "present"), ("cuda", "not available")]
    table(heading, rows, sys.stdout)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TextIO

_PLACE = re.compile(r'^ *File "')
_CARET = re.compile(r"^ *~+ *<--- HERE|^ *~+$")
# Graphs and bytecode: operators and opcodes, values and registers, places.
_STAGES = {
    r"\b\w+::\w+|\b[A-Z][A-Z0-9_]{2,}\b|\b(?:graph|block\d+|return)\b": "bold",
    r"%[\w.]+|\br\d+\b": "cyan",
    r"# .*": "dim",
}


def console(stream: TextIO) -> Any:
    """rich's console for a terminal; None for a file or a pipe, and where rich is not installed."""
    if not stream.isatty():
        return None
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(file=stream, highlight=False, soft_wrap=True)


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], stream: TextIO) -> None:
    """Rows under a heading; the heading only where there are colours to set it apart."""
    screen = console(stream)
    if screen is None:
        widths = [max(len(row[i]) for row in rows) for i in range(len(heading))]
        for row in rows:
            print(" ".join(cell.ljust(n) for cell, n in zip(row, widths, strict=True)).rstrip(), file=stream)
        return
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="bold")
    for i, title in enumerate(heading):
        made.add_column(title, style="cyan" if i == 0 else "")
    for row in rows:
        made.add_row(*map(Text, row))
    screen.print(made)


def program(text: str, stage: str, stream: TextIO) -> None:
    """A stage of the compiler: `code`, which is Python, `graph` or `bytecode`."""
    screen = console(stream)
    if screen is None:
        print(text, file=stream)
        return
    from rich.syntax import Syntax
    from rich.text import Text

    if stage == "code":
        shown = Syntax(text, "python", theme="ansi_dark", background_color="default").highlight(text)
        shown.rstrip()
    else:
        shown = Text(text)
        for pattern, style in _STAGES.items():
            shown.highlight_regex(pattern, style)
    screen.print(shown)


def status(ok: bool, text: str, stream: TextIO) -> None:
    """A line that starts with `ok`, or a message about what is wrong."""
    screen = console(stream)
    if screen is None:
        print(f"ok  {text}" if ok else text, file=stream)
        return
    if ok:
        from rich.text import Text

        screen.print(Text.assemble(("ok", "bold green"), "  ", text))
        return
    error(text, stream)


def error(text: str, stream: TextIO) -> None:
    """A message: its first words in red, places dim, the marks under the source red."""
    screen = console(stream)
    if screen is None:
        print(text, file=stream)
        return
    from rich.text import Text

    for number, line in enumerate(text.split("\n")):
        if number == 0:
            title, colon, rest = line.partition(": ")
            screen.print(Text.assemble((title + colon, "bold red"), rest))
        elif _CARET.match(line):
            screen.print(Text(line, "bold red"))
        else:
            screen.print(Text(line, "dim" if _PLACE.match(line) else ""))
