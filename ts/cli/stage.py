"""`ts graph | code | bytecode`: print one stage of the compiler."""

from __future__ import annotations

import argparse
import sys

from ts.cli import terminal
from ts.cli.bounds import add_limits, limited
from ts.cli.targets import load_function, target


def arguments(parser: argparse.ArgumentParser, stage: str) -> str:
    """The words of the command, and its examples."""
    parser.add_argument("target", metavar="FILE.py:FUNCTION | ARCHIVE[:METHOD]")
    add_limits(parser)
    return f"""\
examples:
  ts {stage} examples/lstm.py:lstm_cell
  ts {stage} model.pt
  ts {stage} model.pt:encoder.forward
"""


def run(options: argparse.Namespace) -> int:
    """Print the stage that the command is named after."""
    found = target(options.target)
    with limited(options, strange=not found.is_program):
        text = str(getattr(load_function(found), options.command)).rstrip("\n")
    terminal.program(text, options.command, sys.stdout)
    return 0
