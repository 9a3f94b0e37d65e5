"""Terminal of the debugger (command loop), from which `ts debug` and `ts.debug` read commands.

Ctrl-C stops a running program at the next line. Ctrl-D ends the program. An example in a shell:

    ts debug examples/word_count.py:most_frequent @README.md 5
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ts.debugger.debugger import PROMPT, Debugger


class Terminal:
    """Reader of commands, first from a given list, then from standard input."""

    def __init__(self, commands: Iterable[str] = ()) -> None:
        self._queued_commands = list(commands)
        self._is_interactive = False

    def read(self) -> str | None:
        """Return the next command, or None at the end of the input."""
        if self._queued_commands:
            command = self._queued_commands.pop(0)
            print(f"{PROMPT}{command}")
            return command
        if not self._is_interactive:
            self._is_interactive = True
            with suppress(ImportError):
                import readline  # noqa: F401 -- gives `input` its history and editing
        while True:
            try:
                command = input(PROMPT)
            except EOFError:
                print()
                return "quit"
            except KeyboardInterrupt:
                print("\n(`quit` ends the program)")
                continue
            if not sys.stdin.isatty():
                # only a terminal echoes its input: print the command for a complete transcript
                print(command)
            return command


@contextmanager
def interrupting(debugger: Debugger) -> Iterator[None]:
    """Context manager in which Ctrl-C stops the program at the next line, and a second Ctrl-C ends it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous_handler = signal.getsignal(signal.SIGINT)

    def stop(signum: int, frame: Any) -> None:
        if not debugger.interrupt():
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous_handler)
