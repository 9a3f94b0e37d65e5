"""Commands `ts graph`, `ts code` and `ts bytecode`, which print the output of one compiler stage.

`ts graph` can also draw the graph.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ts.cli import console
from ts.cli.errors import ProgramError, UsageError
from ts.cli.limit_options import add_limits, limits_of
from ts.cli.targets import load_runnable, parse_target


def arguments(parser: argparse.ArgumentParser, stage: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument("target", metavar="FILE.py:FUNCTION | ARCHIVE[:METHOD] | PROGRAM.pt2")
    svg_example = ""
    if stage == "graph":
        help_text = "write a drawing of the graph to this file instead: .svg, or Graphviz source (.dot, .gv)"
        parser.add_argument("--svg", metavar="OUT", help=help_text)
        svg_example = (
            "  ts graph examples/lstm.py:lstm_cell --svg cell.svg\n\n"
            "`ts explain` shows the drawing next to the source, with the time of each line.\n"
        )
    add_limits(parser)
    return f"""\
examples:
  ts {stage} examples/lstm.py:lstm_cell
  ts {stage} model.pt
  ts {stage} model.pt:encoder.forward
{svg_example}"""


def run(options: argparse.Namespace) -> int:
    """Print the output of the stage that the command names, or draw the graph."""
    target = parse_target(options.target)
    svg_path: str | None = getattr(options, "svg", None)
    if svg_path is not None:
        with limits_of(options, untrusted=not target.is_program), writing(svg_path):
            load_runnable(target).graph.draw(svg_path)
        print(f"wrote {svg_path}", file=sys.stderr)
        return 0
    with limits_of(options, untrusted=not target.is_program):
        output = str(getattr(load_runnable(target), options.command)).rstrip("\n")
    console.program(output, options.command, sys.stdout)
    return 0


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Convert errors that occur while a file is written to one-line errors."""
    if Path(path).suffix not in (".svg", ".dot", ".gv"):
        raise UsageError(f"--svg: expected a file with the suffix .svg, .dot or .gv, got {path}")
    try:
        yield
    except OSError as error:
        if Path(str(error.filename)) != Path(path):
            raise
        raise ProgramError(f"cannot write {path}: {error.strerror}") from None
