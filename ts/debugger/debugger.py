"""Commands of the step debugger, executed while a program is stopped.

Input: command lines from the function `read`. Output: text for the function `write`. The example calls f and
stops before its first line:

    debugger = Debugger(read, write)
    debugger.run(f, (27,), {})

In this dialog, the user types the commands after `(ts)`:

In this dialog, the user types the commands after `(ts)`:
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ts.debugger.breakpoints import Breakpoint, short_name
from ts.debugger.session import DebugSession, FrameView, Resume, Stop
from ts.debugger.value_repr import format_value
from ts.errors import DebuggerQuit, LimitExceeded, ScriptRuntimeError
from ts.ir.source import SourceRange
from ts.runtime.function import ScriptFunction

PROMPT = "(ts) "
_LINES_AROUND = 5
_MAX_VALUE_CHARS = 200  # maximum number of characters per value in a list of values

Read = Callable[[], str | None]
Write = Callable[[str], None]


class Debugger:
    """Interactive debugger with a read-eval-print loop. Breakpoints remain set for later calls."""

    def __init__(self, read: Read, write: Write, session: type[DebugSession] = DebugSession) -> None:
        self.read, self.write = read, write
        self.session = session(self.interact, self._report_condition_error)
        self._last = ""
        # line at which the next `list` starts, or None for lines around the current one
        self._listed: int | None = None

    def run(self, function: ScriptFunction, args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
        """Call the function under the debugger. Raise TypeError for a function without source code."""
        return self.session.run(function, args, kwargs)

    def interrupt(self) -> bool:
        """Request a stop at the next line (`DebugSession.interrupt`)."""
        return self.session.interrupt()

    def interact(self, stop: Stop) -> Resume | None:
        """Show a stop, and execute commands until one returns a `Resume`. Return None if the input ends."""
        self._listed = None
        if stop.is_forked:
            self.write("In a forked program:")
        for reason in self._reasons(stop):
            self.write(reason)
        self._show_frame(self.session.frame)
        resume = None
        while resume is None:
            command = self.read()
            if command is None:
                return None
            resume = self.execute(command)
        return resume

    def _reasons(self, stop: Stop) -> Iterator[str]:
        """Yield a line for each reason of a stop. The end of a step yields no line."""
        if stop.error is not None:
            yield _format_error(stop.error)
            yield "The program ends here. Its variables can still be inspected."
        if stop.stop_point is not None and stop.stop_point.event == "breakpoint":
            yield f"breakpoint() in {stop.stop_point.function}"
        for breakpoint in stop.breakpoints:
            yield f"Breakpoint {breakpoint.number}"
        if stop.is_interrupt:
            yield "Interrupted"
        if stop.stop_point is not None and stop.stop_point.event == "return":
            yield f"--Return-- {self.session.format_variable('return')}"

    def _report_condition_error(self, breakpoint: Breakpoint, error: Exception) -> None:
        self.write(f"*** condition of breakpoint {breakpoint.number}: {type(error).__name__}: {error}")

    # ---- commands that resume the program --------------------------------------------------------------

    def execute(self, line: str) -> Resume | None:
        """Execute a command. Return the `Resume` of a command that resumes the program, else None."""
        line = line.strip() or self._last
        self._last = line if line.partition(" ")[0] in _REPEATED else ""
        word, _, arguments = line.partition(" ")
        command = _COMMANDS.get(word)
        if command is None:
            if line:
                self._print(line)
            return None
        resume: Resume | None = command(self, arguments.strip())
        return resume

    def _step(self, arguments: str) -> Resume:
        """run to the next line, also of a called function"""
        return self.session.step_into()

    def _next(self, arguments: str) -> Resume:
        """run to the next line of this function or its caller, without stops in called functions"""
        return self.session.step_over()

    def _finish(self, arguments: str) -> Resume:
        """run until the function of the selected frame returns"""
        return self.session.step_out()

    def _continue(self, arguments: str) -> Resume:
        """run to the next breakpoint or to the end"""
        return Resume()

    def _quit(self, arguments: str) -> Resume:
        """end the program"""
        raise DebuggerQuit("the program was ended by a debugger command")

    # ---- commands for frames and source lines ----------------------------------------------------------

    def _where(self, arguments: str) -> None:
        """show the call stack, with the innermost call last"""
        for level in reversed(range(len(self.session.frames))):
            self._show_frame(self.session.frames[level], ">" if level == self.session.level else " ")

    def _up(self, arguments: str) -> None:
        """select the frame of the caller"""
        self._move(1, "this is the outermost call")

    def _down(self, arguments: str) -> None:
        """select the frame of the callee"""
        self._move(-1, "this is the innermost call")

    def _move(self, by: int, otherwise: str) -> None:
        if not 0 <= self.session.level + by < len(self.session.frames):
            self.write(f"*** {otherwise}")
            return
        self.session.level += by
        self._listed = None
        self._show_frame(self.session.frame)

    def _show_frame(self, frame: FrameView, mark: str = ">") -> None:
        if frame.range is None:
            self.write(f"{mark} {frame.name} (no source)")
            return
        self.write(f"{mark} {frame.name}, {short_name(frame.filename or '')}:{frame.range.line}")
        lines = _lines_of(frame.range)
        self.write(f"-> {lines.get(frame.range.line, '')}")

    def _list(self, arguments: str) -> None:
        """show the source around the current line or line NUMBER; repeated: the following lines"""
        source_range = self.session.frame.range
        if source_range is None:
            self.write("*** no source code for this frame")
            return
        lines = _lines_of(source_range)
        first = source_range.line - _LINES_AROUND if self._listed is None else self._listed
        if arguments:
            if not arguments.isdecimal():
                self.write("*** list: expected a line number")
                return
            first = int(arguments) - _LINES_AROUND
        stops = {
            p.line
            for b in self.session.breakpoints.values()
            for p in self.session.stop_points_of(b)
            if p.filename == self.session.frame.filename
        }
        line_numbers = [n for n in range(first, first + 2 * _LINES_AROUND + 1) if n in lines]
        for line_number in line_numbers:
            mark = "->" if line_number == source_range.line else "  "
            self.write(
                f"{line_number:4} {'B' if line_number in stops else ' '}{mark} {lines[line_number]}".rstrip()
            )
        if not line_numbers:
            self.write(f"*** the source has lines {min(lines)} to {max(lines)}")
        self._listed = first + 2 * _LINES_AROUND + 1

    # ---- commands for variables ------------------------------------------------------------------------

    def _args(self, arguments: str) -> None:
        """show the parameters of the function"""
        self._show(self.session.parameters())

    def _locals(self, arguments: str) -> None:
        """show all variables with a value"""
        self._show(self.session.variables())

    def _show(self, names: Iterable[str]) -> None:
        variables = self.session.variables()
        defined_names = [name for name in names if name in variables and name != "return"]
        for name in defined_names:
            rendered = self.session.format_variable(name)
            if len(rendered) > _MAX_VALUE_CHARS or "\n" in rendered:
                rendered = rendered.split("\n", 1)[0][:_MAX_VALUE_CHARS] + " ..."
            self.write(f"{name} = {rendered}")
        if not defined_names:
            self.write("(none)")

    def _print(self, arguments: str) -> None:
        """p EXPRESSION: print the value of an expression"""
        self._show_result(arguments, format_value)

    def _whatis(self, arguments: str) -> None:
        """whatis NAME: show the type of a variable or of an expression's value"""
        type = self.session.variables().get(arguments)
        if type is not None:
            self.write(type.annotation_str)
        else:
            self._show_result(arguments, lambda value: builtins.type(value).__name__)

    def _show_result(self, expression: str, show: Callable[[Any], str]) -> None:
        if not expression:
            self.write("*** expected an expression")
            return
        try:
            rendered = show(self.session.evaluate(expression))
        except Exception as error:
            self.write(f"*** {type(error).__name__}: {error}")
        else:
            self.write(rendered)

    # ---- commands for breakpoints ----------------------------------------------------------------------

    def _break(self, arguments: str, temporary: bool = False) -> None:
        """b LINE | FILE:LINE | FUNCTION [if CONDITION]: set a breakpoint; alone: list breakpoints"""
        if not arguments:
            self._show_breakpoints()
            return
        location, _, condition = arguments.partition(" if ")
        try:
            breakpoint = self.session.set_breakpoint(location.strip(), condition, temporary)
        except (SyntaxError, ValueError) as error:
            self.write(f"*** {error}")
            return
        self.write(self._describe(breakpoint))

    def _temporary(self, arguments: str) -> None:
        """tbreak ...: set a breakpoint for one stop"""
        self._break(arguments, temporary=True)

    def _clear(self, arguments: str) -> None:
        """clear NUMBER | LINE | FILE:LINE | FUNCTION | all: remove breakpoints"""
        matches: list[Breakpoint] = []
        if arguments in ("", "all"):
            matches = list(self.session.breakpoints.values())
        elif arguments.isdecimal() and int(arguments) in self.session.breakpoints:
            matches = [self.session.breakpoints[int(arguments)]]
        else:
            matches = self.session.breakpoints_at(arguments)
        for breakpoint in matches:
            self.session.remove_breakpoint(breakpoint)
            self.write(f"Removed breakpoint {breakpoint.number}")
        if not matches:
            self.write("*** no such breakpoint")

    def _describe(self, breakpoint: Breakpoint) -> str:
        description = (
            f"{'Temporary breakpoint' if breakpoint.temporary else 'Breakpoint'} {breakpoint.number}"
        )
        stop_points = self.session.stop_points_of(breakpoint)
        if stop_points:
            first = stop_points[0]
            description += f" at {short_name(first.filename)}:{first.line}, in {first.function}"
        else:
            description += f" at {breakpoint.location} (pending: no code is loaded there)"
        return description + (f", if {breakpoint.condition}" if breakpoint.condition else "")

    def _show_breakpoints(self) -> None:
        for breakpoint in self.session.breakpoints.values():
            self.write(self._describe(breakpoint))
        if not self.session.breakpoints:
            self.write("No breakpoints.")

    def _help(self, arguments: str) -> None:
        """show this list"""
        spellings: dict[Any, list[str]] = {}
        for name, command in _COMMANDS.items():
            spellings.setdefault(command, []).append(name)
        for command, names in spellings.items():
            self.write(f"{', '.join(names):<20} {command.__doc__}")
        self.write(
            f"{'':<20} other input is evaluated and printed; an empty line repeats the last step or list"
        )


_COMMANDS: dict[str, Callable[[Debugger, str], Resume | None]] = {
    **dict.fromkeys(("b", "break"), Debugger._break),
    **dict.fromkeys(("tb", "tbreak"), Debugger._temporary),
    **dict.fromkeys(("cl", "clear"), Debugger._clear),
    **dict.fromkeys(("s", "step"), Debugger._step),
    **dict.fromkeys(("n", "next"), Debugger._next),
    **dict.fromkeys(("r", "return", "finish"), Debugger._finish),
    **dict.fromkeys(("c", "continue"), Debugger._continue),
    **dict.fromkeys(("w", "where", "bt"), Debugger._where),
    **dict.fromkeys(("u", "up"), Debugger._up),
    **dict.fromkeys(("d", "down"), Debugger._down),
    **dict.fromkeys(("l", "list"), Debugger._list),
    **dict.fromkeys(("a", "args"), Debugger._args),
    "locals": Debugger._locals,
    **dict.fromkeys(("p", "print"), Debugger._print),
    "whatis": Debugger._whatis,
    **dict.fromkeys(("q", "quit"), Debugger._quit),
    **dict.fromkeys(("h", "help"), Debugger._help),
}
_REPEATED = ("s", "step", "n", "next", "l", "list", "u", "up", "d", "down")


# ---- formatting of lines, values and errors ------------------------------------------------------------


def _lines_of(range: SourceRange) -> dict[int, str]:
    """Return the lines of a source, by line number."""
    return dict(enumerate(range.source.text.rstrip("\n").split("\n"), range.source.first_line))


def _format_error(error: BaseException) -> str:
    if isinstance(error, ScriptRuntimeError):
        return f"{error.class_name.rpartition('.')[2]}: {error.message}"
    if isinstance(error, LimitExceeded):
        return f"{type(error).__name__}: {error.message}"  # without the location, which is shown separately
    while error.__cause__ is not None:  # follow the causes to the original exception
        error = error.__cause__
    return f"{type(error).__name__}: {error}"
