"""Command `ts explain-shapes`, which lists the size symbols of an exported program.

Each symbol is printed with its conditions and the source lines of these conditions.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ts.cli.errors import ProgramError, UsageError
from ts.cli.limit_options import add_limits, limits_of
from ts.cli.targets import is_exported, parse_target

if TYPE_CHECKING:
    from ts.export.symbol_report import Condition


def arguments(parser: argparse.ArgumentParser, command: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument("target", metavar="PROGRAM.pt2")
    add_limits(parser)
    return """\
examples:
  ts explain-shapes model.pt2
"""


def run(options: argparse.Namespace) -> int:
    """Print the range and the constraints of each symbol."""
    path = parse_target(options.target).path
    if not is_exported(path):
        raise UsageError(f"{path} is not an exported program (written by ts.export.save)")
    from ts.cli.pt2_target import load_exported
    from ts.export.pt2_format.symbols import require_sympy
    from ts.export.shape_check import ShapeError
    from ts.export.symbol_report import explain_symbols

    with limits_of(options, untrusted=True):
        program = load_exported(path).program
        if not program.range_constraints:
            print("all sizes are static")
            return 0
        require_sympy()
        try:
            symbols = explain_symbols(program)
        except ShapeError as error:
            raise ProgramError(str(error)) from None
    for symbol in symbols:
        print(f"{symbol.name}  {', '.join(symbol.sources)}: {symbol.range}")
        for line in _lines(symbol.conditions):
            print(f"    {line}")
    return 0


def _lines(conditions: list[Condition]) -> Iterator[str]:
    for condition, frame in conditions:
        yield condition if frame is None else f"{condition}    {frame.file}:{frame.line}  {frame.text}"
