"""Command `ts debug`, which calls a function under the step debugger in the terminal.

In the second example, the commands of the debugger come from options:

    ts debug examples/word_count.py:most_frequent @README.md 5
    ts debug -c "b 12" -c c -c "p total" loops.py:sum_of 10
"""

from __future__ import annotations

import argparse

from ts.cli.arguments import ARGUMENT_SYNTAX, read_arguments
from ts.cli.limit_options import add_limits, limits_of
from ts.cli.targets import load_function, parse_target
from ts.debugger.api import callable_of
from ts.debugger.debugger import Debugger
from ts.debugger.terminal import Terminal, interrupting
from ts.errors import DebuggerQuit


def arguments(parser: argparse.ArgumentParser, command: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument("target", metavar="FILE.py:FUNCTION | ARCHIVE[:METHOD]")
    parser.add_argument(
        "arguments", nargs="*", metavar="ARG", help="value, read according to the parameter's type"
    )
    parser.add_argument(
        "-c",
        dest="commands",
        metavar="COMMAND",
        action="append",
        default=[],
        help="debugger command to execute at the start; can be repeated",
    )
    add_limits(parser)
    return f"""\
{ARGUMENT_SYNTAX}
examples:
  ts debug examples/word_count.py:most_frequent @README.md 5
  ts debug -c "b 12" -c c -c "p total" loops.py:sum_of 10
"""


def run(options: argparse.Namespace) -> int:
    """Run `ts debug`: call the function under the step debugger and print its result."""
    target = parse_target(options.target)
    with limits_of(options, untrusted=not target.is_program):
        function = load_function(target)
    positional, keywords = read_arguments(function, options.arguments)
    target_function, bound_arguments = callable_of(function)
    try:
        debugger = Debugger(Terminal(options.commands).read, print)
        # only explicit limits apply: with a default time limit, the user could not step through the program
        # for long
        with limits_of(options, untrusted=False), interrupting(debugger):
            result = debugger.run(target_function, [*bound_arguments, *positional], keywords)
    except DebuggerQuit:
        return 0
    print(f"returned {result!r}")
    return 0
