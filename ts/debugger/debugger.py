"""Step debugger: breakpoints, stepping, and inspection of stopped programs.

Input: command lines from the function `read`.  Output: text for the function `write`.

    debugger = Debugger(read, write)
    debugger.run(f, (27,), {})            calls f; stops before its first line and reads commands

    > collatz, collatz.py:3
    ->     steps = 0
    (ts) b 9 if steps > 100
    Breakpoint 1 at collatz.py:9, in collatz
    (ts) c

A stopped program has left the interpreter's loop; its frames stay in memory while the program's thread reads
commands.  Forked tasks continue, and stop at breakpoints only.  Values are converted to Python objects:
changing a copy has no effect on the program.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from ts._core.vm.breaks import PausedProgram
from ts.bytecode.debug_lowering import Stack, StopPoint
from ts.debugger.breakpoints import Breakpoint, file_and_line, short_name
from ts.debugger.debug_compilation import DebugCode, DebugFunction
from ts.debugger.value_repr import PartialObject, format_value
from ts.errors import DebuggerQuit, LimitExceeded, ScriptRuntimeError
from ts.ir.source import SourceRange
from ts.runtime.function import ScriptFunction

PROMPT = "(ts) "
_EVERYWHERE = 0x7FFFFFFF
_LINES_AROUND = 5
_MAX_VALUE_CHARS = 200  # maximum number of characters per value in a list of values

Read = Callable[[], str | None]
Write = Callable[[str], None]


class FrameView(NamedTuple):
    """Active call; `level` is the index of its interpreter frame (0: innermost), shared by inlined calls."""

    level: int
    name: str
    range: SourceRange | None
    stop_point: StopPoint | None  # stop point of the line; None for code without stop points


class Resume(NamedTuple):
    """Maximum call depth of the next stop: `depth` at a line, `return_depth` at the return of a function."""

    depth: int = 0
    return_depth: int = 0


class Debugger:
    """Interactive debugger; breakpoints remain set for later calls."""

    def __init__(self, read: Read, write: Write) -> None:
        self.read, self.write = read, write
        self.code = DebugCode(self._on_stop, self._on_failure, self._bind)
        self.breakpoints: dict[int, Breakpoint] = {}
        self._count = 0
        self._lock = threading.RLock()
        self._entry: DebugFunction | None = None
        self._last = ""
        self.begin()

    def begin(self) -> None:
        """Prepare for the next call, which stops at the first line of the function."""
        self._main: int | None = None  # id of the called program; forked tasks have other ids
        self._stepping: int | None = None
        self._resume = Resume(_EVERYWHERE)
        self._attached = True
        self._interrupted = False
        self._paused: PausedProgram | None = None
        self._frames: list[FrameView] = []
        self._level = 0
        self._listed: int | None = None  # line at which the next `list` starts
        self.code.breakpoints.request_stop(None)

    def run(self, function: ScriptFunction, args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
        """Call the function under the debugger."""
        debug_function = self.code.debug_version(function)
        if not isinstance(debug_function, DebugFunction):
            raise TypeError(
                f"{function.name} was created from a graph and has no source code to step through"
            )
        self._entry = debug_function
        self.begin()
        return debug_function(*args, **kwargs)

    def interrupt(self) -> bool:
        """Request a stop at the next line, in a signal handler.

        Return False if a stop is already requested or the program is stopped.
        """
        if self._interrupted or self._paused is not None:
            return False
        self._interrupted = True
        self._stepping, self._resume = None, Resume(_EVERYWHERE)
        self.code.breakpoints.request_stop(None)
        return True

    # ---- stops -----------------------------------------------------------------------------------------

    def _on_stop(self, paused: PausedProgram, stop_point: StopPoint, is_armed: bool) -> None:
        with self._lock:
            if self._main is None:
                self._main = paused.program
            if not self._attached:
                return
            if not self._read_frames(paused):
                return
            reasons = [f"breakpoint() in {stop_point.function}"] if stop_point.event == "breakpoint" else []
            for breakpoint in list(self.breakpoints.values()):
                if stop_point.number in breakpoint.stop_points and self._holds(breakpoint):
                    reasons.append(f"Breakpoint {breakpoint.number}")
                    if breakpoint.temporary:
                        self._remove(breakpoint)
            if not reasons and is_armed and not self._is_step(paused, stop_point):
                return
            if self._interrupted:
                self._interrupted = False
                reasons.append("Interrupted")
            if stop_point.event == "return":
                reasons.append(f"--Return-- {self._format_variable('return')}")
            self._interact(paused, reasons)

    def _on_failure(self, paused: PausedProgram, error: BaseException) -> None:
        """Read commands when a program has failed, before its frames are released (post-mortem debugging)."""
        with self._lock:
            if self._main is None:
                self._main = paused.program
            if not self._attached or isinstance(error, DebuggerQuit) or paused.program != self._main:
                return
            if self._read_frames(paused):
                with suppress(DebuggerQuit):  # the exception propagates to the caller
                    self._interact(
                        paused,
                        [
                            _format_error(error),
                            "The program ends here. Its variables can still be inspected.",
                        ],
                    )

    def _is_step(self, paused: PausedProgram, stop_point: StopPoint) -> bool:
        """Return True if the current step ends at this stop point."""
        depth = self._resume.return_depth if stop_point.event == "return" else self._resume.depth
        return paused.depth <= depth and self._stepping in (None, paused.program)

    def _read_frames(self, paused: PausedProgram) -> bool:
        """Read the frames of a stopped program; return False if it has none."""
        self._paused = paused
        self._frames = []
        for level, (code, instruction) in enumerate(paused.frames()):
            stack = code.lines[instruction] if code.lines else ((code.name, None),)
            stop_point = None
            if isinstance(stack, Stack) and stack.stop_point >= 0:
                stop_point = self.code.stop_points[stack.stop_point]
            for name, range in reversed(stack):
                self._frames.append(FrameView(level, name, range, stop_point))
        self._level = 0
        self._listed = None
        return bool(self._frames)

    def _interact(self, paused: PausedProgram, reasons: list[str]) -> None:
        """Execute commands until one resumes the program."""
        if paused.program != self._main:
            reasons = ["In a forked program:", *reasons]
        for reason in reasons:
            self.write(reason)
        self._show_frame(self._frame)
        resume = None
        while resume is None:
            command = self.read()
            if command is None:  # end of input
                self._attached, resume = False, Resume()
            else:
                resume = self.execute(command)
        self._paused = None
        self._stepping, self._resume = paused.program, resume
        self.code.breakpoints.request_stop(paused, *resume)

    @property
    def _frame(self) -> FrameView:
        return self._frames[self._level]

    # ---- commands --------------------------------------------------------------------------------------

    def execute(self, line: str) -> Resume | None:
        """Execute a command; return how to resume the program, or None to stay stopped."""
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
        return Resume(_EVERYWHERE)

    def _next(self, arguments: str) -> Resume:
        """run to the next line of this function or its caller; called functions run without a stop"""
        return Resume(self._depth)

    def _finish(self, arguments: str) -> Resume:
        """run until the function of the selected frame returns"""
        return Resume(self._depth - 1, self._depth)

    def _continue(self, arguments: str) -> Resume:
        """run to the next breakpoint or to the end"""
        return Resume()

    def _quit(self, arguments: str) -> Resume:
        """end the program"""
        raise DebuggerQuit("the program was ended by a debugger command")

    @property
    def _depth(self) -> int:
        """Return the call depth of the selected frame."""
        assert self._paused is not None
        return self._paused.depth - self._frame.level

    # ---- frames ----------------------------------------------------------------------------------------

    def _where(self, arguments: str) -> None:
        """show the call stack, with the innermost call last"""
        for level in reversed(range(len(self._frames))):
            self._show_frame(self._frames[level], ">" if level == self._level else " ")

    def _up(self, arguments: str) -> None:
        """select the frame of the caller"""
        self._move(1, "this is the outermost call")

    def _down(self, arguments: str) -> None:
        """select the frame of the callee"""
        self._move(-1, "this is the innermost call")

    def _move(self, by: int, otherwise: str) -> None:
        if not 0 <= self._level + by < len(self._frames):
            self.write(f"*** {otherwise}")
            return
        self._level += by
        self._listed = None
        self._show_frame(self._frame)

    def _show_frame(self, frame: FrameView, mark: str = ">") -> None:
        if frame.range is None:
            self.write(f"{mark} {frame.name} (no source)")
            return
        self.write(f"{mark} {frame.name}, {short_name(_file_of(frame.range))}:{frame.range.line}")
        lines = _lines_of(frame.range)
        self.write(f"-> {lines.get(frame.range.line, '')}")

    def _list(self, arguments: str) -> None:
        """show the source around the current line or line NUMBER; repeated: the following lines"""
        source_range = self._frame.range
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
            for b in self.breakpoints.values()
            for p in self._stop_points(b)
            if p.filename == _file_of(source_range)
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

    # ---- values ----------------------------------------------------------------------------------------

    def _args(self, arguments: str) -> None:
        """show the parameters of the function"""
        stop_point = self._frame.stop_point
        owner = stop_point.owner if stop_point is not None else None
        self._show(owner.parameters() if isinstance(owner, DebugFunction) else ())

    def _locals(self, arguments: str) -> None:
        """show all variables with a value"""
        self._show(self._variables())

    def _show(self, names: Iterable[str]) -> None:
        variables = self._variables()
        defined_names = [name for name in names if name in variables and name != "return"]
        for name in defined_names:
            rendered = self._format_variable(name)
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
        type = self._variables().get(arguments)
        if type is not None:
            self.write(type.annotation_str)
        else:
            self._show_result(arguments, lambda value: builtins.type(value).__name__)

    def _show_result(self, expression: str, show: Callable[[Any], str]) -> None:
        if not expression:
            self.write("*** expected an expression")
            return
        try:
            rendered = show(self.evaluate(expression))
        except Exception as error:
            self.write(f"*** {type(error).__name__}: {error}")
        else:
            self.write(rendered)

    def evaluate(self, expression: str) -> Any:
        """Return the value of a Python expression in the selected frame (expression evaluation)."""
        code, names = _compiled(expression.strip())
        stop_point = self._frame.stop_point
        owner = stop_point.owner if stop_point is not None else None
        variables = self._variables()
        values = owner.lookup_names(names - variables.keys()) if isinstance(owner, DebugFunction) else {}
        for name in names & variables.keys():
            values[name] = self._value(name)
        return eval(code, values)

    def _variables(self) -> dict[str, Any]:
        """Return the types of the variables in scope, by name."""
        return {} if self._frame.stop_point is None else self._frame.stop_point.types

    def _value(self, name: str) -> Any:
        frame = self._frame
        assert self._paused is not None and frame.stop_point is not None
        register = frame.stop_point.registers[list(frame.stop_point.types).index(name)]
        try:
            return self._paused.value(frame.level, register)
        except AttributeError:  # `__init__` has not returned yet
            return PartialObject(self._paused.value(frame.level, register, as_python=False))

    def _format_variable(self, name: str) -> str:
        try:
            return format_value(self._value(name))
        except Exception as error:  # for example, raised by a `__repr__` of the program
            return f"<{type(error).__name__}: {error}>"

    # ---- breakpoints -----------------------------------------------------------------------------------

    def _break(self, arguments: str, temporary: bool = False) -> None:
        """b LINE | FILE:LINE | FUNCTION [if CONDITION]: set a breakpoint; alone: list breakpoints"""
        if not arguments:
            self._show_breakpoints()
            return
        target, _, condition = arguments.partition(" if ")
        current_range = self._frame.range
        try:
            if condition:
                compile(condition.strip(), "<condition>", "eval")
            location = file_and_line(
                target.strip(), None if current_range is None else _file_of(current_range)
            )
        except (SyntaxError, ValueError) as error:
            self.write(f"*** {error}")
            return
        if self._entry is not None:
            self.code.prepare_all(self._entry)
        self._count += 1
        breakpoint = Breakpoint(self._count, *location, condition.strip(), temporary)
        self.breakpoints[self._count] = breakpoint
        self._bind()
        self.write(self._describe(breakpoint))

    def _temporary(self, arguments: str) -> None:
        """tbreak ...: set a breakpoint for one stop"""
        self._break(arguments, temporary=True)

    def _clear(self, arguments: str) -> None:
        """clear NUMBER | LINE | FILE:LINE | FUNCTION | all: remove breakpoints"""
        current_range = self._frame.range
        matches: list[Breakpoint] = []
        if arguments in ("", "all"):
            matches = list(self.breakpoints.values())
        elif arguments.isdecimal() and int(arguments) in self.breakpoints:
            matches = [self.breakpoints[int(arguments)]]
        else:
            location = file_and_line(arguments, None if current_range is None else _file_of(current_range))
            matches = [b for b in self.breakpoints.values() if (b.filename, b.line, b.function) == location]
        for breakpoint in matches:
            self._remove(breakpoint)
            self.write(f"Removed breakpoint {breakpoint.number}")
        if not matches:
            self.write("*** no such breakpoint")

    def _remove(self, breakpoint: Breakpoint) -> None:
        del self.breakpoints[breakpoint.number]
        self._bind()

    def _bind(self) -> None:
        """Resolve all breakpoints; arm their stop points and disarm all others."""
        armed_numbers = {point.number for point in self.code.stop_points if point.event == "breakpoint"}
        for breakpoint in self.breakpoints.values():
            breakpoint.bind(self.code.stop_points)
            armed_numbers |= breakpoint.stop_points
        for stop_point in self.code.stop_points:
            self.code.breakpoints.arm(stop_point.number, stop_point.number in armed_numbers)

    def _holds(self, breakpoint: Breakpoint) -> bool:
        """Return whether the program stops at a conditional breakpoint; True without a condition."""
        if not breakpoint.condition:
            return True
        try:
            return bool(self.evaluate(breakpoint.condition))
        except Exception as error:
            self.write(f"*** condition of breakpoint {breakpoint.number}: {type(error).__name__}: {error}")
            return True

    def _stop_points(self, breakpoint: Breakpoint) -> list[StopPoint]:
        return [self.code.stop_points[index] for index in breakpoint.stop_points]

    def _describe(self, breakpoint: Breakpoint) -> str:
        description = (
            f"{'Temporary breakpoint' if breakpoint.temporary else 'Breakpoint'} {breakpoint.number}"
        )
        stop_points = self._stop_points(breakpoint)
        if stop_points:
            first = stop_points[0]
            description += f" at {short_name(first.filename)}:{first.line}, in {first.function}"
        else:
            description += f" at {breakpoint.location} (pending: no code is loaded there)"
        return description + (f", if {breakpoint.condition}" if breakpoint.condition else "")

    def _show_breakpoints(self) -> None:
        for breakpoint in self.breakpoints.values():
            self.write(self._describe(breakpoint))
        if not self.breakpoints:
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


# ---- text ----------------------------------------------------------------------------------------------


def _file_of(range: SourceRange) -> str:
    return range.source.filename or "<string>"


def _lines_of(range: SourceRange) -> dict[int, str]:
    """Return the lines of a source, by line number."""
    return dict(enumerate(range.source.text.rstrip("\n").split("\n"), range.source.first_line))


@lru_cache(maxsize=64)
def _compiled(expression: str) -> tuple[Any, set[str]]:
    """Compile an expression; return the code and the names that it uses."""
    code = compile(expression, "<debugger>", "eval")
    return code, _names_in(code)


def _names_in(code: Any) -> set[str]:
    """Return the names that a code object uses, including nested comprehensions and lambdas."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            names |= _names_in(constant)
    return names


def _format_error(error: BaseException) -> str:
    if isinstance(error, ScriptRuntimeError):
        return f"{error.class_name.rpartition('.')[2]}: {error.message}"
    if isinstance(error, LimitExceeded):
        return f"{type(error).__name__}: {error.message}"  # without the location, which is shown separately
    while error.__cause__ is not None:  # the original exception
        error = error.__cause__
    return f"{type(error).__name__}: {error}"
