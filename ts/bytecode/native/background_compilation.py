"""Background JIT compilation (tiered compilation) of hot code by a thread with a compile queue.

The main functions are:

    start_background_compilation()  lets the interpreter queue hot code
    compile_now(code)               compiles synchronously, for tests and measurements
    wait_until_idle()               waits until the queue is empty

Compilation requires llvmlite. TS_NATIVE=0 disables it.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from functools import cache
from importlib.util import find_spec
from typing import Final

from ts._core.dispatch.profiler_recorder import Stage
from ts._core.vm.code import Code
from ts._core.vm.native import layout, register_compiler

# number of backward jumps (about 100 microseconds of execution) after which a Code is compiled
HOT_LOOP_THRESHOLD: Final = 65_536
is_enabled: Final = os.environ.get("TS_NATIVE", "1") not in ("", "0")

failures: list[tuple[str, Exception]] = []  # (name, error) of each failed compilation, for diagnosis

# reentrant, because a finalizer that runs while the lock is held may request a compilation
_lock = threading.RLock()
_queue: deque[Code] = deque()
_compiling: Code | None = None  # the code that is being compiled
_thread: threading.Thread | None = None


def start_background_compilation() -> None:
    """Start background compilation of hot code, unless TS_NATIVE disables it."""
    if is_enabled:
        register_compiler(_enqueue, HOT_LOOP_THRESHOLD)


@cache
def is_available() -> bool:
    """Return whether llvmlite is installed."""
    return find_spec("llvmlite") is not None


def rejection_reason(code: Code) -> str:
    """Return the reason why a Code cannot be compiled to machine code, or "" if it can."""
    from ts.bytecode.native.side_exits import MAX_INSTRUCTIONS, REASON_NO_LOOP, REASON_TOO_LARGE, find_loops

    loops = find_loops(code)
    if not loops:
        return REASON_NO_LOOP
    if code.size > MAX_INSTRUCTIONS:
        return REASON_TOO_LARGE
    return "" if any(not loop.reason for loop in loops) else loops[0].reason


def compile_now(code: Code, forced: bool = False) -> str:
    """Compile a Code. Return the reason if this is not possible, else "".

    If `forced`, the machine code can exit at any instruction, for tests (`vm.native.force_exit`).
    """
    reason = rejection_reason(code)
    if reason or code.machine_code is not None:
        return reason
    # imported at first use, because importing LLVM takes longer than most scripts run
    from ts.bytecode.native.codegen import translate
    from ts.bytecode.native.llvm_compiler import compile
    from ts.bytecode.native.side_exits import find_loops

    loops = find_loops(code)
    with Stage("compile: machine code", code.name):
        machine_code = compile(translate(code, loops, layout(), forced))
    code.adopt(machine_code.address, [loop.end for loop in loops if not loop.reason], machine_code)
    return ""


def wait_until_idle() -> None:
    """Wait until the compilation queue is empty."""
    thread = _thread
    if thread is not None:
        thread.join()


def is_compiling(code: Code) -> bool:
    """Return whether background compilation of a Code, or of a Code that calls it, is pending."""
    with _lock:
        pending = [*_queue, *([] if _compiling is None else [_compiling])]
    return code.machine_code is None and any(
        code is active for entry in pending for active in (entry, *_callees(entry))
    )


def _enqueue(code: Code) -> None:
    """Queue a hot Code for compilation. The interpreter calls this function in its limit checks."""
    global _thread
    if not is_available():
        register_compiler(None, 0)
        return
    with _lock:
        _queue.append(code)
        if _thread is not None:
            return
        _thread = threading.Thread(target=_compile_queued_codes, name="ts machine code")
        try:
            _thread.start()
        except RuntimeError:
            # no thread can be started, because of a limit of the system or at interpreter shutdown
            _thread = None
            _queue.clear()
        except BaseException:
            _thread = None
            raise


def _compile_queued_codes() -> None:
    global _compiling, _thread
    while True:
        with _lock:
            _compiling = None
            if not _queue or not threading.main_thread().is_alive():
                _thread = None
                return
            _compiling = code = _queue.popleft()
        for target in (code, *_callees(code)):
            try:
                compile_now(target)
            except Exception as error:  # ignored, because the interpreter can execute the code
                failures.append((target.name, error))


def _callees(code: Code) -> list[Code]:
    """Return the Codes of the functions that `code` calls."""
    codes = (getattr(function, "available_code", None) for function in code.functions)
    return [code for code in codes if isinstance(code, Code)]


def _reset_after_fork() -> None:
    """Reset the state in a forked child process (fork safety).

    Its compilation thread does not exist, and LLVM may be in an inconsistent state.
    """
    global _compiling, _lock, _thread
    _compiling, _lock = None, threading.RLock()
    _queue.clear()
    if _thread is not None:
        _thread = None
        register_compiler(None, 0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
