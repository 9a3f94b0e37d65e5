"""Debug session with breakpoints, stepping, frames and values of stopped programs.

A session calls the function `on_stop` at each stop. The result of `on_stop` determines how the program
continues. In the example, the session calls f and stops before its first line:

    session = DebugSession(on_stop, on_condition_error)
    session.set_breakpoint("12", "steps > 100")     line and condition
    session.run(f, (27,), {})

During a stop, `session.frame` is the selected frame, `session.evaluate("steps")` returns a value, and
`session.step_into()` requests a step. Values are copies, so changing them has no effect on the program.
Forked tasks continue during a stop. They stop at breakpoints only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ts._core.vm.breaks import PausedProgram
from ts.bytecode.stop_points import Stack, StopPoint
from ts.debugger.breakpoints import Breakpoint, file_and_line
from ts.debugger.debug_compilation import DebugCode, DebugFunction
from ts.debugger.value_repr import PartialObject, format_value
from ts.errors import DebuggerQuit
from ts.ir.source import SourceRange
from ts.runtime.function import ScriptFunction

_MAX_DEPTH: Final = 0x7FFFFFFF  # a `Resume` with this call depth stops in every function


class FrameView(NamedTuple):
    """Active call. `level` is the index of its interpreter frame, 0 for the innermost one.

    Inlined calls have the frame of their caller.
    """

    level: int
    name: str
    range: SourceRange | None
    stop_point: StopPoint | None  # last stop point that the call has passed, or None

    @property
    def filename(self) -> str | None:
        """Name of the source file, or None without source."""
        return None if self.range is None else self.range.source.filename or "<string>"


class Resume(NamedTuple):
    """Condition of the next stop.

    The program stops at a line in a call of at most depth `depth`, or at the return of a call of at most
    depth `return_depth`.
    """

    depth: int = 0
    return_depth: int = 0


class Stop(NamedTuple):
    """Stop of a program, with its reasons. A stop without breakpoint, interrupt or error ends a step."""

    stop_point: StopPoint | None  # the stop point that was reached, or None after a failure
    breakpoints: tuple[Breakpoint, ...] = ()
    is_interrupt: bool = False
    error: BaseException | None = None  # error that ended the program, or None
    is_forked: bool = False  # True if the program that stopped is a forked task


class DebugSession:
    """Debugger without user interface. Breakpoints remain set for later calls."""

    def __init__(
        self,
        on_stop: Callable[[Stop], Resume | None],
        on_condition_error: Callable[[Breakpoint, Exception], None],
    ) -> None:
        """Create a session that calls `on_stop` in the thread of a stopped program.

        If `on_stop` returns None, the program runs to its end without further stops. If the condition of a
        breakpoint raises an error, `on_condition_error` is called. Then the program stops at the breakpoint.
        """
        self._notify_stop, self._notify_condition_error = on_stop, on_condition_error
        self.code = DebugCode(self.on_stop, self.on_failure, self._bind)
        self.breakpoints: dict[int, Breakpoint] = {}
        self._count = 0
        self._lock = threading.RLock()
        self._entry: DebugFunction | None = None
        self.begin()

    def begin(self) -> None:
        """Prepare for the next call, which stops at the first line of the function."""
        # id of the program that runs the debugged call, or None before the first stop. A forked task has
        # another id.
        self.main_program: int | None = None
        self._stepping: int | None = None
        self.resume = Resume(_MAX_DEPTH)
        self.is_attached = True
        self._interrupted = False
        self._paused: PausedProgram | None = None
        self.frames: list[FrameView] = []  # active calls, innermost first
        self.level = 0  # index in `frames` of the frame that the user selected
        self.code.breakpoints.request_stop(None)

    def run(self, function: ScriptFunction, args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
        """Call the function under the debugger. Raise TypeError for a function without source code."""
        debug_function = self.code.debug_version(function)
        if not isinstance(debug_function, DebugFunction):
            raise TypeError(
                f"{function.name} was created from a graph and has no source code to step through"
            )
        self._entry = debug_function
        self.begin()
        return debug_function(*args, **kwargs)

    def interrupt(self) -> bool:
        """Request a stop at the next line. This method may be called in a signal handler.

        Return False if a stop is already requested or the program is stopped.
        """
        if self._interrupted or self._paused is not None:
            return False
        self._interrupted = True
        self._stepping, self.resume = None, Resume(_MAX_DEPTH)
        self.code.breakpoints.request_stop(None)
        return True

    # ---- stops of the program --------------------------------------------------------------------------

    def on_stop(self, paused: PausedProgram, stop_point: StopPoint, is_armed: bool) -> None:
        """Call the user's `on_stop` if a step, breakpoint or interrupt stops the program at `stop_point`."""
        with self._lock:
            if self.main_program is None:
                self.main_program = paused.program
            if not self.is_attached or not self._read_frames(paused):
                return
            reached = [
                breakpoint
                for breakpoint in list(self.breakpoints.values())
                if stop_point.number in breakpoint.stop_points and self._holds(breakpoint)
            ]
            for breakpoint in reached:
                if breakpoint.temporary:
                    self.remove_breakpoint(breakpoint)
            has_reason = reached or stop_point.event == "breakpoint"
            if not has_reason and is_armed and not self.ends_step(paused, stop_point):
                return
            is_interrupt, self._interrupted = self._interrupted, False
            self._stop(paused, Stop(stop_point, tuple(reached), is_interrupt, None, self._is_forked(paused)))

    def on_failure(self, paused: PausedProgram, error: BaseException) -> None:
        """Stop after an error, before the frames are released (post-mortem debugging)."""
        with self._lock:
            if self.main_program is None:
                self.main_program = paused.program
            if not self.is_attached or isinstance(error, DebuggerQuit) or self._is_forked(paused):
                return
            if self._read_frames(paused):
                # the program's own error ends it, so `quit` needs no further exception
                with suppress(DebuggerQuit):
                    self._stop(paused, Stop(None, error=error))

    def _is_forked(self, paused: PausedProgram) -> bool:
        return paused.program != self.main_program

    def ends_step(self, paused: PausedProgram, stop_point: StopPoint) -> bool:
        """Return True if the current step ends at this stop point."""
        depth = self.resume.return_depth if stop_point.event == "return" else self.resume.depth
        return paused.depth <= depth and self._stepping in (None, paused.program)

    def _read_frames(self, paused: PausedProgram) -> bool:
        """Set `self.frames` to the active calls of a stopped program. Return False if there are none."""
        self._paused = paused
        self.frames = []
        for level, (code, instruction) in enumerate(paused.frames()):
            stack = code.lines[instruction] if code.lines else ((code.name, None),)
            stop_point = None
            if isinstance(stack, Stack) and stack.stop_point >= 0:
                stop_point = self.code.stop_points[stack.stop_point]
            for name, range in reversed(stack):
                self.frames.append(FrameView(level, name, range, stop_point))
        self.level = 0
        return bool(self.frames)

    def _stop(self, paused: PausedProgram, stop: Stop) -> None:
        """Call the user's `on_stop`, and resume the program with the `Resume` that it returns.

        If `on_stop` returns None, the program runs without further stops.
        """
        resume = self._notify_stop(stop)
        if resume is None:
            self.is_attached, resume = False, Resume()
        self._paused = None
        self._stepping, self.resume = paused.program, resume
        self.code.breakpoints.request_stop(paused, *resume)

    # ---- stepping commands -----------------------------------------------------------------------------

    def step_into(self) -> Resume:
        """Return the `Resume` for the command "step into": stop at the next line of any function."""
        return Resume(_MAX_DEPTH)

    def step_over(self) -> Resume:
        """Return the `Resume` for the command "step over".

        The program stops at the next line of the selected frame or of one of its callers.
        """
        return Resume(self._depth)

    def step_out(self) -> Resume:
        """Return the `Resume` for the command "step out": stop when the selected frame returns."""
        return Resume(self._depth - 1, self._depth)

    @property
    def _depth(self) -> int:
        """Return the call depth of the selected frame."""
        assert self._paused is not None
        return self._paused.depth - self.frame.level

    # ---- frames and variables of the stopped program ---------------------------------------------------

    @property
    def frame(self) -> FrameView:
        """Selected frame."""
        return self.frames[self.level]

    def _owner(self) -> DebugFunction | None:
        stop_point = self.frame.stop_point
        owner = None if stop_point is None else stop_point.owner
        return owner if isinstance(owner, DebugFunction) else None

    def parameters(self) -> list[str]:
        """Return the parameter names of the selected frame's function."""
        owner = self._owner()
        return [] if owner is None else owner.parameters()

    def variables(self) -> dict[str, Any]:
        """Return a dict from the names of the selected frame's visible variables to their types."""
        return {} if self.frame.stop_point is None else self.frame.stop_point.types

    def value(self, name: str) -> Any:
        """Return the value of a variable of the selected frame as a Python object."""
        frame = self.frame
        assert self._paused is not None and frame.stop_point is not None
        register = frame.stop_point.registers[list(frame.stop_point.types).index(name)]
        try:
            return self._paused.value(frame.level, register)
        except AttributeError:  # attributes are unset, because `__init__` has not returned yet
            return PartialObject(self._paused.value(frame.level, register, as_python=False))

    def format_variable(self, name: str) -> str:
        """Return the text of a variable's value, or of an error if the value cannot be printed."""
        try:
            return format_value(self.value(name))
        except Exception as error:
            # formatting may run code of the program, such as a `__repr__`, which may raise any exception
            return f"<{type(error).__name__}: {error}>"

    def evaluate(self, expression: str) -> Any:
        """Return the value of a Python expression in the selected frame (expression evaluation)."""
        code, names = _compiled(expression.strip())
        owner = self._owner()
        variables = self.variables()
        values = {} if owner is None else owner.lookup_names(names - variables.keys())
        for name in names & variables.keys():
            values[name] = self.value(name)
        return eval(code, values)

    # ---- breakpoints -----------------------------------------------------------------------------------

    def set_breakpoint(self, location: str, condition: str = "", temporary: bool = False) -> Breakpoint:
        """Set a breakpoint at `LINE`, `FILE:LINE` or `FUNCTION`.

        Raise ValueError for an invalid location, SyntaxError for an invalid condition.
        """
        if condition:
            compile(condition.strip(), "<condition>", "eval")
        target = file_and_line(location, self._current_file())
        if self._entry is not None:
            self.code.prepare_all(self._entry)
        self._count += 1
        breakpoint = Breakpoint(self._count, *target, condition.strip(), temporary)
        self.breakpoints[self._count] = breakpoint
        self._bind()
        return breakpoint

    def breakpoints_at(self, location: str) -> list[Breakpoint]:
        """Return the breakpoints at `location`. Raise ValueError if `location` is invalid."""
        target = file_and_line(location, self._current_file())
        return [b for b in self.breakpoints.values() if (b.filename, b.line, b.function) == target]

    def remove_breakpoint(self, breakpoint: Breakpoint) -> None:
        """Remove a breakpoint."""
        del self.breakpoints[breakpoint.number]
        self._bind()

    def stop_points_of(self, breakpoint: Breakpoint) -> list[StopPoint]:
        """Return the stop points at which a breakpoint stops. The list is empty if the code is not loaded."""
        return [self.code.stop_points[index] for index in breakpoint.stop_points]

    def _current_file(self) -> str | None:
        return self.frame.filename if self.frames else None

    def _bind(self) -> None:
        """Resolve all breakpoints, arm their stop points and disarm all others."""
        armed_numbers = {point.number for point in self.code.stop_points if point.event == "breakpoint"}
        for breakpoint in self.breakpoints.values():
            breakpoint.bind(self.code.stop_points)
            armed_numbers |= breakpoint.stop_points
        for stop_point in self.code.stop_points:
            self.code.breakpoints.arm(stop_point.number, stop_point.number in armed_numbers)

    def _holds(self, breakpoint: Breakpoint) -> bool:
        """Return True if a breakpoint has no condition, or if its condition is true."""
        if not breakpoint.condition:
            return True
        try:
            return bool(self.evaluate(breakpoint.condition))
        except Exception as error:
            self._notify_condition_error(breakpoint, error)
            return True


@lru_cache(maxsize=64)
def _compiled(expression: str) -> tuple[Any, set[str]]:
    """Compile an expression, and return the code and the names that it uses."""
    code = compile(expression, "<debugger>", "eval")
    return code, _names_in(code)


def _names_in(code: Any) -> set[str]:
    """Return the names that a code object uses, including names in its nested comprehensions and lambdas."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            names |= _names_in(constant)
    return names
