"""Load mutated archives: source, pickles, records, numbers and bytes of the zip file.

Input: a range of seeds.  Output: a line for each archive that neither loads nor raises an expected error:

    python -m tests.fuzz.archives 0 300                  300 archives, each with one to three mutations
    python -m tests.fuzz.archives -n 100000 [LOG]        this number of further archives, appended to the log
    python -m tests.fuzz.archives SEED                   the archive of a seed, with the traceback

A loaded archive is called, printed, frozen and saved again.  Allowed are results, `ArchiveError`, exceeded
limits, and errors of the compiler and of running programs with source locations.  A seed determines its
archive.  Every fourth archive is read from a file, with memory-mapped tensors.
"""

from __future__ import annotations

import io
import pickle
import random
import sys
import tempfile
from collections.abc import Callable
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import ts
from tests.fuzz import subprocess_watchdog
from tests.fuzz.archive_mutators import changed
from tests.program_files import all_programs, read
from ts.errors import ArchiveError, FrontendError, InternalError, LimitExceeded, ScriptRuntimeError

SECONDS = 10  # time limit of an archive; its programs have LIMITS
LIMITS: dict[str, Any] = {"seconds": 3, "fuel": 1_000_000, "bytes": 1 << 27, "depth": 500}
BYTES = subprocess_watchdog.BYTES + (1 << 29)  # of the process; deep programs need half of it for the stack
PROGRAMS = 24  # number of files of tests/programs that are saved and mutated
BATCH = 500  # archives per process and per log line
LOG = Path("build/fuzz/archives.log")
class Color(Enum):
    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    n: int
    x: ts.Tensor


@ts.jit.script
class Point:
    def __init__(self, x: int, names: List[str]):
        self.x = x
        self.names = names

    def moved(self, by: int):
        return Point(self.x + by, self.names)


class Block(ts.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = ts.nn.Linear(2, 2)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        return ts.relu(self.linear(x))


class Net(ts.nn.Module):
    """Module with attributes of all kinds that archives support."""

    names: List[str]
    table: Dict[str, List[int]]
    maybe: Optional[Tuple[int, str]]
    scale: ts.jit.Final[float]

    def __init__(self) -> None:
        super().__init__()
        self.blocks = ts.nn.ModuleList([Block(), Block()])
        self.conv = ts.nn.Conv2d(1, 2, 1)
        self.norm = ts.nn.BatchNorm1d(2)
        self.register_buffer("steps", ts.tensor([1, 2]))
        self.shared = self.blocks[0].linear.weight
        self.names, self.table, self.maybe, self.scale = ["a", "b"], {"k": [1, 2]}, (1, "x"), 0.5
        self.color, self.place, self.number = Color.RED, ts.device("cpu"), 2j

    @ts.jit.export
    def described(self, n: int = 2) -> Tuple[str, Dict[str, List[int]]]:
        pair = Pair(n, self.steps)
        point = Point(pair.n, self.names).moved(1)
        maybe = self.maybe
        if maybe is not None and self.color == Color.RED:
            return f"{point.x} {maybe[1]}", self.table
        raise ValueError("nothing")

    def forward(self, x: ts.Tensor = ts.ones(1, 2)) -> List[ts.Tensor]:
        found: List[ts.Tensor] = []
        for block in self.blocks:
            x = block(x) * self.scale
            found.append(x)
        task = ts.jit.fork(self.described, 3)
        text, table = ts.jit.wait(task)
        with ts.no_grad():
            found.append(self.norm(x) + len(text) + sum([len(v) for v in table.values()]))
        while len(found) < 4:
            found += [self.conv(found[-1].view(1, 1, 1, -1)).sum()]
        return found


@cache
def originals() -> list[bytes]:
    """Return the archives to mutate: modules, a trace, values in both formats, and programs."""
    ts.manual_seed(0)
    net, wide = Net().eval(), ts.nn.Linear(128, 130).eval()
    contents = {"a": [ts.ones(2, 3).t(), 1, "x"], "b": (None, 2.5, ts.ones(2, dtype=ts.bfloat16)), "c": ts.ones(130, 128)}
    values = [io.BytesIO(), io.BytesIO()]
    ts.save(contents, values[0])
    ts.save(contents, values[1], _use_new_zipfile_serialization=False)
    traced = ts.jit.trace(lambda x: (x @ x.t()).relu() + ts.ones(1), ts.ones(2, 2))
    scripted = [ts.jit.script(net).save_to_buffer()] * 8 + [ts.jit.script(wide).save_to_buffer()] * 2
    found = [*scripted, *(value.getvalue() for value in values * 2), traced.save_to_buffer()]
    programs = [p for p in map(read, all_programs()) if not p.compile_error and not p.scripts_itself]
    for program in random.Random(0).sample(programs, PROGRAMS):
        try:
            found.append(ts.jit.script(program.load()).save_to_buffer())
        except ArchiveError:  # a program that calls Python
            continue
    return found


def archive(seed: int) -> bytes:
    """Return the archive of a seed."""
    return changed(originals(), random.Random(seed))


def check(seed: int) -> bool:
    """Return True if an archive loads; unexpected errors are raised."""
    data = archive(seed)
    if seed % 4:
        return check_file(lambda: io.BytesIO(data))
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return check_file(lambda: file.name, mmap=True)


def check_file(opened: Callable[[], Any], **options: bool) -> bool:
    """Run `check` on a file or path returned by `opened`."""
    with ts.limits(**LIMITS):
        loaded = attempt(ts.jit.load, opened())
        attempt(ts.load, opened(), **options)
        attempt(ts.jit.missing, opened())
        if loaded is None:
            return False
        use_module(loaded)
    return True


def attempt(function: Callable[..., Any], *args: Any, **options: bool) -> Any:
    """Return the result of a reader, or None if it rejects the file with an expected error."""
    try:
        return function(*args, **options)
    except (ArchiveError, LimitExceeded, pickle.UnpicklingError):  # UnpicklingError: global names, as PyTorch
        return None
    except FrontendError as error:
        if not is_placed(error):
            raise
        return None


def use_module(loaded: Any) -> None:
    """Call, print and save a loaded module."""
    for use in (
        loaded,
        lambda: loaded.described(),
        lambda: str(loaded.code),
        lambda: str(loaded.graph),
        lambda: repr(loaded.state_dict()),
        lambda: str(loaded),
        lambda: ts.jit.freeze(loaded.eval())(),
        lambda: ts.jit.export_opnames(loaded),
        lambda: ts.jit.load(io.BytesIO(loaded.save_to_buffer())),
    ):
        try:
            use()
        except InternalError:
            raise
        except (ArchiveError, LimitExceeded, ScriptRuntimeError):
            continue
        except Exception as error:
            if not (is_placed(error) if isinstance(error, FrontendError) else is_located(error)):
                raise


def is_placed(error: FrontendError) -> bool:
    """Return True if a compiler error has a source location."""
    return error.range is not None or any(place is not None for _, _, place in error.calls)


def is_located(error: Exception) -> bool:
    """Return True if a script exception has a source location or reports an invalid call, a missing method or
    a failed freeze."""
    text = str(error)
    located = "Traceback of TorchScript" in text or "Declaration: " in text or "attempted to freeze" in text
    located = located or text == "Method 'forward' is not defined."  # a module without `forward`, as in PyTorch
    return located or (isinstance(error, AttributeError) and "has no attribute" in text)


def main(first: str, last: str, *place: str) -> None:
    """Check the archives of these seeds."""
    originals()
    calls = subprocess_watchdog.Calls(*place, seconds=SECONDS, bytes=BYTES)
    for seed in range(int(first), int(last)):
        calls.run(f"archive {seed}", (), check, seed)


def problems(first: int, last: int) -> list[str]:
    """Return the problems found with the archives of a range of seeds."""
    return subprocess_watchdog.problems(__spec__.name, first, last)


def campaign(count: int, log: Path) -> None:
    """Check `count` archives after those in the log; write a line per batch with its problems."""
    log.parent.mkdir(parents=True, exist_ok=True)
    done = [int(line.split()[2].rstrip(":")) for line in log.read_text().splitlines() if line.startswith("seeds ")] if log.exists() else []
    for first in range(max(done, default=0), count, BATCH):
        last = min(first + BATCH, count)
        found = problems(first, last)
        with log.open("a") as out:
            print(*found, f"seeds {first} {last}: {len(found)} problems", sep="\n", file=out)
    print("\n".join(line for line in log.read_text().splitlines() if not line.endswith(": 0 problems")))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["-n", count, *log]:
            campaign(int(count), Path(*log) if log else LOG)
        case arguments:
            subprocess_watchdog.from_command_line(arguments, check, problems, main)
