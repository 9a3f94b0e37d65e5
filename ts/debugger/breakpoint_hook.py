"""Default debugger of the process, for `breakpoint()` in scripts that run without another debugger.

As in Python, `breakpoint()` calls `sys.breakpointhook` if the program has replaced this function. If
PYTHONBREAKPOINT names a function, `breakpoint()` calls that function. Otherwise, this debugger starts in the
terminal.
"""

from __future__ import annotations

import os
import sys
from functools import cache

from ts._core.vm.breaks import PausedProgram
from ts._core.vm.code import Code
from ts.bytecode.stop_points import StopPoint
from ts.debugger.debug_compilation import DebugCode
from ts.debugger.debugger import Debugger
from ts.debugger.session import DebugSession, Resume
from ts.debugger.terminal import Terminal
from ts.runtime.function import ScriptFunction
from ts.runtime.graph_variants import prepare_graph


class ProcessDebugSession(DebugSession):
    """Debug session of `breakpoint()` in a script, used when no other debugger is active.

    As in Python, `PYTHONBREAKPOINT=0` disables breakpoints.  If the program has set `sys.breakpointhook` or
    PYTHONBREAKPOINT, the hook runs instead of this debugger.  Without a terminal, the program continues.
    """

    def begin(self) -> None:
        """Prepare for the next call, which stops only at `breakpoint()`."""
        super().begin()
        self.resume = Resume()
        self.code.breakpoints.request_stop(None, 0)

    def on_stop(self, paused: PausedProgram, stop_point: StopPoint, is_armed: bool) -> None:
        """Stop at the end of a step and at `breakpoint()`.

        If the program has a breakpoint hook, the hook runs at `breakpoint()` instead of this debugger.
        """
        self.main_program = paused.program
        if stop_point.event != "breakpoint" or self.ends_step(paused, stop_point):
            super().on_stop(paused, stop_point, is_armed)
        elif os.environ.get("PYTHONBREAKPOINT") == "0":
            return
        elif os.environ.get("PYTHONBREAKPOINT") or sys.breakpointhook is not sys.__breakpointhook__:
            sys.breakpointhook()
        elif sys.stdin.isatty() and sys.stdout.isatty():
            self.is_attached = True
            super().on_stop(paused, stop_point, is_armed)

    def on_failure(self, paused: PausedProgram, error: BaseException) -> None:
        """Ignore the exception, because it propagates to the caller of the script."""


@cache
def _code() -> DebugCode:
    """Return the default debugger's collection of debug versions of functions."""
    return Debugger(Terminal().read, print, ProcessDebugSession).session.code


def prepare_with_breakpoints(function: ScriptFunction) -> Code:
    """Return a function's code with stop points for `breakpoint()`, or ordinary code if it has no source."""
    parsed = function.definition()
    if parsed is None:
        plain: Code = prepare_graph(function.graph, function.name)
        return plain
    code: Code = _code().debug_version(function).compiled_code
    return code
