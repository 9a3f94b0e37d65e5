"""Run calls that may crash or hang in a subprocess and continue after each failure.

    found = problems("tests.fuzz.extreme_arguments", 0, 200)       ["aten::add x=nan: ended with -11 ..."]
                                                           runs python -m tests.fuzz.extreme_arguments 0 200 AFTER PLACE
    calls = Calls(*sys.argv[3:])                           in the subprocess, which is restarted after a failure
    calls.run("add of nan", REJECTION_ERRORS, ts.add, x, x)        calls up to number AFTER are skipped

An unexpected exception of a call is a problem too, and so is a call that exceeds its time limit:
a watchdog prints its traceback and ends the process.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

TIMEOUT_FACTOR = int(os.environ.get("TS_TIMEOUT_FACTOR", "1"))  # for instrumented builds
BYTES = 1 << 29  # memory limit in addition to that at the start
_FOUND = "found: "


class Calls:
    """Executes calls in the subprocess and writes the number of the current call to the file `place`."""

    def __init__(self, after: str, place: str, seconds: float, bytes: int = BYTES) -> None:
        self.after = int(after)
        self.count = 0
        self.seconds = seconds * TIMEOUT_FACTOR
        self._number = os.open(place, os.O_WRONLY)
        self._out = os.fdopen(os.dup(1), "w")
        faulthandler.enable(sys.__stderr__)
        sys.stderr = open(os.devnull, "w")  # output of programs and of failing callbacks is discarded
        sys.stdout = sys.stderr
        sys.excepthook = lambda *error: traceback.print_exception(*error, file=sys.__stderr__)
        limit_memory(bytes)

    def run(
        self, text: str, allowed: tuple[type[Exception], ...], function: Callable[..., Any], *args: Any
    ) -> None:
        """Call function(*args), unless an earlier process has already run this call."""
        self.count += 1
        if self.count <= self.after:
            return
        text_bytes = f"{self.count} {text}".encode("utf-8", "replace")
        os.pwrite(self._number, text_bytes[:600].ljust(600), 0)
        faulthandler.dump_traceback_later(self.seconds, exit=True, file=sys.__stderr__)
        try:
            function(*args)
        except allowed:
            pass
        except Exception as error:
            print(f"{_FOUND}{text}: {type(error).__name__}: {error!r:.1500}", file=self._out, flush=True)
        faulthandler.cancel_dump_traceback_later()


def limit_memory(bytes: int) -> None:
    """Limit the memory of this process to `bytes` more than it uses, so that oversized allocations fail as on
    a small machine."""
    with open("/proc/self/statm") as statm:
        size = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + bytes, resource.RLIM_INFINITY))


def problems(module: str, *arguments: object) -> list[str]:
    """Return the problems found: unexpected errors, and calls that ended the process."""
    found = []
    after = 0
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    with tempfile.NamedTemporaryFile() as number:
        while True:
            command = [sys.executable, "-m", module, *map(str, arguments), str(after), number.name]
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", check=False, env=environment
            )
            found += [line.removeprefix(_FOUND) for line in done.stdout.splitlines() if line.startswith(_FOUND)]
            if done.returncode == 0:
                return found
            count, _, text = Path(number.name).read_text(errors="replace").strip().partition(" ")
            if "Traceback (most recent call last)" in done.stderr or int(count or 0) <= after:  # of no call
                raise RuntimeError(done.stderr)
            found.append(f"{text}: ended with {done.returncode}\n{done.stderr[:3000]}")
            after = int(count)


def from_command_line(
    arguments: list[str],
    check: Callable[[int], object],
    problems: Callable[[int, int], list[str]],
    main: Callable[..., None],
) -> None:
    """Run the command line: check a seed, print the problems of a range, or execute the calls of a
    subprocess."""
    match arguments:
        case [seed]:
            try:
                print(check(int(seed)))
            except Exception:
                traceback.print_exc()
        case [first, last]:
            print("\n".join(problems(int(first), int(last))))
        case _:
            main(*arguments)
