"""`ts debug`: call a function under the step debugger, on the terminal.

ts debug examples/words.py:most_frequent @README.md 5
ts debug -c "b 12" -c c -c "p total" loops.py:sum_of 10
"""

from __future__ import annotations

import argparse

from ts.cli.arguments import read_arguments
from ts.cli.targets import load_function
from ts.debugger.debug import callable_of
from ts.debugger.debugger import Debugger
from ts.debugger.terminal import Terminal, interrupting
from ts.errors import DebuggerQuit


def debug(options: argparse.Namespace) -> int:
    """`ts debug`: call the function under the step debugger and print what it returns."""
    function = load_function(options.target)
    positional, keywords = read_arguments(function, options.arguments)
    called, before = callable_of(function)
    try:
        debugger = Debugger(Terminal(options.commands).read, print)
        with interrupting(debugger):
            result = debugger.run(called, [*before, *positional], keywords)
    except DebuggerQuit:
        return 0
    print(f"returned {result!r}")
    return 0
