"""Command `ts run`, which calls a function or model, and prints the result or writes it to a file."""

from __future__ import annotations

import argparse
import sys
import time

import ts
from ts.cli.arguments import ARGUMENT_SYNTAX, read_arguments
from ts.cli.limit_options import add_limits, limits_of
from ts.cli.output_files import check_out, write_results
from ts.cli.targets import load_runnable, parse_target


def arguments(parser: argparse.ArgumentParser, command: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument("target", metavar="FILE.py:FUNCTION | ARCHIVE[:METHOD] | PROGRAM.pt2")
    parser.add_argument(
        "arguments", nargs="*", metavar="ARG", help="value, read according to the parameter's type"
    )
    parser.add_argument(
        "-o",
        "--out",
        metavar="PATH",
        help="write the result to an .npy or .npz file, or to standard output (-)",
    )
    parser.add_argument("--time", action="store_true", help="print the run time to standard error")
    add_limits(parser)
    return f"""\
{ARGUMENT_SYNTAX}
A model of an archive runs in evaluation mode.  In an .npz file, results are named by their fields, keys or
indices; a single result is named `out`, and None is omitted.

examples:
  ts run examples/word_count.py:most_frequent @README.md 5
  ts run model.pt x.npy y=2 -o out.npz
  ts run model.pt inputs.npz -o y.npy
  ts run model.pt:encode x.npy --seconds 2 --bytes 512M
  ts run net.py:Net x.npy -o y.npy
  ts run model.pt - -o - < x.npy > y.npy
  ts run model.pt2 x.npy
"""


def run(options: argparse.Namespace) -> int:
    """Call the function, and print the result or write it to a file."""
    if options.out is not None:
        check_out(options.out)
    target = parse_target(options.target)
    with limits_of(options, untrusted=not target.is_program):
        function = load_runnable(target)
        positional, keywords = read_arguments(function, options.arguments)
        start = time.perf_counter()
        with ts.no_grad():
            result = function(*positional, **keywords)
        seconds = time.perf_counter() - start
    if options.out is None:
        print(result if isinstance(result, str) else repr(result))
    else:
        write_results(options.out, result, function.name)
    if options.time:
        print(f"{seconds * 1e3:.3f} ms", file=sys.stderr)
    return 0
