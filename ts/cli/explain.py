"""Command `ts explain`, which writes an HTML report of a function or model.

The report contains the source, the graph and the time per line.
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ts
from ts.cli.arguments import ARGUMENT_SYNTAX, read_arguments
from ts.cli.errors import ProgramError
from ts.cli.limit_options import add_limits, limits_of
from ts.cli.targets import load_function, parse_target
from ts.ir.schema import Argument
from ts.jit import ScriptFunction
from ts.runtime.script_method import ScriptMethod


def arguments(parser: argparse.ArgumentParser, command: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument("target", metavar="FILE.py:FUNCTION | ARCHIVE[:METHOD]")
    parser.add_argument(
        "arguments", nargs="*", metavar="ARG", help="value, read according to the parameter's type"
    )
    parser.add_argument("-o", "--out", metavar="PAGE.html", required=True, help="output file")
    add_limits(parser)
    return f"""\
{ARGUMENT_SYNTAX}
With arguments, the function is called several times and the page shows the time of each line.

examples:
  ts explain examples/mandelbrot.py:escape_times 40 30 50 -o page.html
  ts explain model.pt x=float32[1,3,224,224] -o page.html
  ts explain model.pt:encoder.layers.0 -o page.html
"""


def run(options: argparse.Namespace) -> int:
    """Collect the report of a function and write it as HTML."""
    from ts.report import collect, page

    target = parse_target(options.target)
    arguments: tuple[list[Any], dict[str, Any]] | None = None
    with ts.no_grad():
        with limits_of(options, untrusted=not target.is_program):
            function = load_function(target)
            if options.arguments or _needs_none(function):
                arguments = read_arguments(function, options.arguments)
                args, kwargs = copy.deepcopy(arguments)
                # This first call runs within the limits. The measurement repeats it without limits.
                function(*args, **kwargs)
            else:
                facts = collect(function)
        if arguments is not None:
            facts = collect(function, *arguments)
    try:
        Path(options.out).write_text(page(facts), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise ProgramError(f"cannot write {options.out}: {error.strerror}") from None
    print(f"wrote {options.out}", file=sys.stderr)
    if arguments is None:
        required = [f"{x.name}: {x.type.annotation_str}" for x in _declared(function) if not x.has_default]
        print(
            "the page has no times, because the function was not called; missing arguments:",
            ", ".join(required),
            file=sys.stderr,
        )
    return 0


def _declared(function: ScriptFunction | ScriptMethod) -> Sequence[Argument]:
    """Return the parameters of a function except `self`."""
    return function.schema.arguments[1 if isinstance(function, ScriptMethod) else 0 :]


def _needs_none(function: ScriptFunction | ScriptMethod) -> bool:
    """Return True if a function can be called without arguments."""
    return all(argument.has_default for argument in _declared(function))
