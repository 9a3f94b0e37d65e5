"""Operators called with numbers that nobody should give them: huge, negative, infinite, not a number.

In: numbers of records; out: a line for each call that went wrong, and the process survives all others.

    python -m tests.fuzz.hostile 0 200          problems of the records 0 to 199

Every number among a record's sample arguments, every list of numbers and every tensor is replaced in turn by each
of the values below.  The operator may compute or refuse.  It may not take longer than SECONDS, or end the process:
a watchdog then prints where it was and exits, and the caller (`problems`) goes on behind that call.  Memory is limited,
so that sizes too large fail as they do on a small machine.
"""

from __future__ import annotations

import copy
import faulthandler
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any

import ts
from tests import samples
from ts.ops import registry

SECONDS = 5 * int(os.environ.get("TS_PATIENCE", "1"))  # builds that check are slower
BYTES = 1 << 29  # that a call may take
INTEGERS = (0, -1, 1 << 31, (1 << 63) - 1, -(1 << 63))
FLOATS = (0.0, -1.0, float("inf"), float("-inf"), float("nan"), 1e308, -5e-324)
SCALARS = (*INTEGERS, *FLOATS)
BY_KIND: dict[str, tuple[Any, ...]] = {
    "int": INTEGERS, "SymInt": INTEGERS, "float": FLOATS, "Scalar": SCALARS, "number": SCALARS,
}  # fmt: skip
LISTS: dict[str, tuple[Any, ...]] = {"int[]": INTEGERS, "SymInt[]": INTEGERS, "float[]": FLOATS}
# What operators raise: PyTorch's classes.  Anything else is an accident of the implementation.
REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, MemoryError)
# They wait, or change the process for good.
LEFT_OUT = {"aten::cuda", "aten::pin_memory", "aten::seed"}


def records() -> list[Any]:
    registry.load()
    return [r for r in registry.records() if r.variant != "out" and r.base is None and r.name not in LEFT_OUT]


def replacements(parameter: Any, value: Any) -> Iterator[Any]:
    """What to put in the place of a sample's argument."""
    if isinstance(value, ts.Tensor):
        if value.dtype.is_floating_point or value.dtype.is_complex:
            yield from (ts.full_like(value, x if abs(x) != 1e308 else 3e38) for x in FLOATS)
        elif value.dtype != ts.bool:
            yield from (ts.full_like(value, x) for x in INTEGERS if value.dtype == ts.int64 or 0 <= x < 128)
        yield ts.zeros([0], dtype=value.dtype)
        yield ts.zeros([2, 0, 3], dtype=value.dtype)
        return
    kind = parameter.kind.removesuffix("?")
    yield from BY_KIND.get(kind, ())
    for x in LISTS.get(kind, ()):
        given = value if isinstance(value, list) and value else [1]
        yield [x] * len(given)
        if len(given) > 1:
            yield [*given[:-1], x]
    if kind in LISTS:
        yield []


def calls(record: Any) -> Iterator[tuple[str, list[Any]]]:
    """(which argument is what, the arguments) for a record."""
    if samples.profile(record)[0] < 0:
        return
    parameters = samples.operator(record).signature.parameters
    for dtype in (ts.float32, ts.int64):
        given = samples.arguments(record, dtype)
        assert given is not None
        for i, parameter in enumerate(parameters):
            for x in replacements(parameter, given[i]):
                tensor = isinstance(x, ts.Tensor)
                shown = f"{x.dtype} {list(x.shape)} of {x.flatten()[:1].tolist()}" if tensor else x
                args = [copy.deepcopy(y) if isinstance(y, (ts.Tensor, list)) else y for y in given]
                yield f"{record.key} {dtype} {parameter.name}={shown}", [*args[:i], x, *args[i + 1 :]]


def main(first: int, last: int, after: int, place: str) -> None:
    """Call the records first to last, leaving out the first `after` calls; the number of the call is kept in a file."""
    faulthandler.enable()
    number = os.open(place, os.O_WRONLY)
    limit_memory()
    count = 0
    for record in records()[first:last]:
        for text, args in calls(record):
            count += 1
            if count <= after:
                continue
            os.pwrite(number, f"{count} {text}".ljust(400).encode()[:400], 0)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    samples.operator(record)(*args)
            except REFUSALS:
                pass
            except Exception as error:
                print(f"{text}: {type(error).__name__}: {error}", flush=True)
            faulthandler.cancel_dump_traceback_later()


def limit_memory() -> None:
    """Let this process have BYTES more than it has."""
    with open("/proc/self/statm") as statm:
        size = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + BYTES, resource.RLIM_INFINITY))


def problems(first: int, last: int) -> list[str]:
    """What went wrong with the records first to last: accidents, and calls that ended a process."""
    found = []
    after = 0
    with tempfile.NamedTemporaryFile() as number:
        while True:
            done = subprocess.run(
                [sys.executable, "-m", "tests.fuzz.hostile", str(first), str(last), str(after), number.name],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
            found += [line for line in done.stdout.splitlines() if line.startswith("aten::")]  # LAPACK says things too
            if done.returncode == 0:
                return found
            count, _, text = open(number.name).read().strip().partition(" ")
            if not count or "Traceback" in done.stderr:  # an accident of the caller's
                raise RuntimeError(done.stderr)
            found.append(f"{text}: ended with {done.returncode}\n{done.stderr[-1500:]}")
            after = int(count)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print("\n".join(problems(int(sys.argv[1]), int(sys.argv[2]))))
    else:
        main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
