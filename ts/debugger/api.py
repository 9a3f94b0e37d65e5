"""`ts.debug`, which calls scripted functions under the step debugger.

Input: a function, a method or a module. Output: a callable with the same parameters. It stops before the
first line of the function and reads commands from the terminal or from a list:

    ts.debug(f)(27)
    run = ts.debug(f, ["b 9", "c"])
    run(27)
    run.transcript                              the executed commands and their output

After the last command of a list, the program continues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

from ts.debugger.debugger import PROMPT, Debugger
from ts.debugger.terminal import Terminal, interrupting
from ts.jit.scripting import script
from ts.runtime.function import ScriptFunction
from ts.runtime.module import ScriptModule
from ts.runtime.script_method import ScriptMethod


class Debugged:
    """Callable that runs a function under the debugger."""

    def __init__(
        self,
        function: Any,
        commands: Iterable[str] | None = None,
        output: Callable[[str], None] | None = None,
    ) -> None:
        self._function, self._first = callable_of(function)
        self._lines: list[str] = []
        self._output = output
        self._commands = None if commands is None else iter(commands)
        if self._commands is None:
            self.debugger = Debugger(Terminal().read, output or print)
        else:
            self.debugger = Debugger(self._next_command, self._write)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function under the debugger. Breakpoints remain set for later calls."""
        with nullcontext() if self._commands is not None else interrupting(self.debugger):
            return self.debugger.run(self._function, (*self._first, *args), kwargs)

    @property
    def transcript(self) -> str:
        """Text of the executed commands and their output."""
        return "".join(f"{line}\n" for line in self._lines)

    def _next_command(self) -> str | None:
        assert self._commands is not None
        command = next(self._commands, None)
        if command is not None:
            self._write(f"{PROMPT}{command}".rstrip())
        return command

    def _write(self, line: str) -> None:
        self._lines.append(line)
        if self._output is not None:
            self._output(line)


def debug(
    function: Any, commands: Iterable[str] | None = None, output: Callable[[str], None] | None = None
) -> Debugged:
    """Return a callable that runs `function` under the debugger.

    Commands are read from `commands`, or else from the terminal.  With `commands`, `output` is called with
    each line of the transcript.
    """
    return Debugged(function, commands, output)


def callable_of(function: Any) -> tuple[ScriptFunction, tuple[Any, ...]]:
    """Return the scripted function to run, and its bound arguments, such as `self`."""
    scripted = function
    if not isinstance(scripted, ScriptFunction | ScriptMethod | ScriptModule):
        scripted = script(function)
    if isinstance(scripted, ScriptModule):
        scripted = scripted.forward
    if isinstance(scripted, ScriptMethod):
        return scripted.function, (scripted.owner._object,)
    if isinstance(scripted, ScriptFunction):
        return scripted, ()
    raise TypeError(f"debug: expected a function, a method or a module, got {type(function).__name__}")
