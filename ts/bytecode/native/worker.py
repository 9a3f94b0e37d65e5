"""Who compiles, and when: a thread beside the program, which is there while there is something to do.

    attend()                      from now on, Codes that loop often are asked for by the meter
    compile_now(code)             for tests and measurements: before anything else happens
    is_asked(code)                whether its machine code is being made
    finish()                      wait until nothing is asked for

Used where llvmlite is installed; TS_NATIVE=0 leaves everything to the interpreter.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from functools import cache
from importlib.util import find_spec
from typing import Final

from ts._core.dispatch.recorder import Stage
from ts._core.vm.code import Code
from ts._core.vm.native import layout, register_compiler

HOT: Final = 65_536  # backward jumps, a fraction of a millisecond, until a Code is compiled
is_wanted: Final = os.environ.get("TS_NATIVE", "1") not in ("", "0")

failures: list[tuple[str, Exception]] = []  # what LLVM would not take, for who looks for a mistake of ours

_lock = threading.RLock()  # a finalizer that runs meanwhile may run a program that asks, too
_waiting: deque[Code] = deque()
_at: Code | None = None  # what the thread compiles, with what it calls
_thread: threading.Thread | None = None


def attend() -> None:
    """Compile what becomes hot, unless the environment says not to."""
    if is_wanted:
        register_compiler(_request, HOT)


@cache
def available() -> bool:
    """Whether LLVM is installed."""
    return find_spec("llvmlite") is not None


def why(code: Code) -> str:
    """Why a Code has no machine code, if there is a reason to have none; else ""."""
    from ts.bytecode.native.exits import LARGE, MOST_INSTRUCTIONS, NO_LOOP, loops_of

    loops = loops_of(code)
    if not loops:
        return NO_LOOP
    if code.size > MOST_INSTRUCTIONS:
        return LARGE
    return "" if any(not loop.refusal for loop in loops) else loops[0].refusal


def compile_now(code: Code, forced: bool = False) -> str:
    """Give a Code its machine code; the reason where it has none.

    One that is `forced` can be told to leave anywhere: `force_exit`.
    """
    reason = why(code)
    if reason or code.machine_code is not None:
        return reason
    from ts.bytecode.native.compiler import compile  # LLVM, which takes longer to load than most programs run
    from ts.bytecode.native.exits import loops_of
    from ts.bytecode.native.translate import translate

    loops = loops_of(code)
    with Stage("compile: machine code", code.name):
        machine_code = compile(translate(code, loops, layout(), forced))
    code.adopt(machine_code.address, [loop.end for loop in loops if not loop.refusal], machine_code)
    return ""


def finish() -> None:
    """Wait for what is asked for."""
    thread = _thread
    if thread is not None:
        thread.join()


def is_asked(code: Code) -> bool:
    """Whether a Code waits for its machine code, by itself or as one that another calls."""
    with _lock:
        asked = [*_waiting, *([] if _at is None else [_at])]
    return code.machine_code is None and any(code is each for one in asked for each in (one, *_callees(one)))


def _request(code: Code) -> None:
    """Called by the meter, in the program's thread."""
    global _thread
    if not available():
        register_compiler(None, 0)
        return
    with _lock:
        _waiting.append(code)
        if _thread is not None:
            return
        _thread = threading.Thread(target=_work, name="ts machine code")
        try:
            _thread.start()
        except RuntimeError:  # no more threads, or the process ends
            _thread = None
            _waiting.clear()
        except BaseException:
            _thread = None
            raise


def _work() -> None:
    global _at, _thread
    while True:
        with _lock:
            _at = None
            if not _waiting or not threading.main_thread().is_alive():
                _thread = None
                return
            _at = code = _waiting.popleft()
        for each in (code, *_callees(code)):
            try:
                compile_now(each)
            except Exception as error:  # the code goes on as it is
                failures.append((each.name, error))


def _callees(code: Code) -> list[Code]:
    """The finished codes that a code calls: where its jumps were counted, it may be they that loop."""
    made = (getattr(function, "made_code", None) for function in code.functions)
    return [code for code in made if isinstance(code, Code)]


def _forget() -> None:
    """In a process that was forked: the thread is gone, and LLVM may be in the middle of something."""
    global _at, _lock, _thread
    _at, _lock = None, threading.RLock()
    _waiting.clear()
    if _thread is not None:
        _thread = None
        register_compiler(None, 0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
