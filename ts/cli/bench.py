"""Command `ts bench`, a benchmark that compares speed and memory of a model under `ts` and under PyTorch.

Input: an archive, or a function in a file, which is saved to an archive first. Output: a table. Example:

    model.pt, one thread: best of 7 interleaved rounds
                  ts 0.1.0  torch 2.13.0  torch / ts
    start         0.29 s    1.63 s        5.62x
    first call    80.5 ms   36.7 ms       0.46x
    call          12.0 us   22.7 us       1.89x
    memory        55.8 MiB  231.3 MiB     4.14x
    the results differ by 1.8e-07 at most

Each engine runs in a separate process (`ts.cli.bench_worker`) with the same archive and arguments. The rounds
of the engines alternate, so that other load of the machine affects both engines equally.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np

import ts
from ts.cli import bench_worker, console
from ts.cli.archive_summary import format_bytes
from ts.cli.arguments import ARGUMENT_SYNTAX, read_arguments
from ts.cli.errors import ProgramError, UsageError
from ts.cli.limit_options import add_limits, limits_of
from ts.cli.targets import Target, load_function, parse_target
from ts.jit import ScriptFunction
from ts.runtime.script_method import ScriptMethod

PEERS: Final = ("torch",)
# default limit on the total time of the measurements, of both engines together
_TIMEOUT_SECONDS: Final = 600.0
# key of a measurement in seconds in the worker's response -> title of its table row
_MEASUREMENTS: Final = {"start": "start", "first": "first call", "round": "call"}


def arguments(parser: argparse.ArgumentParser, command: str) -> str:
    """Add the command's arguments to `parser` and return its help epilog."""
    parser.add_argument("target", metavar="FILE.py:FUNCTION | ARCHIVE[:METHOD]")
    parser.add_argument(
        "arguments", nargs="*", metavar="ARG", help="value, read according to the parameter's type"
    )
    parser.add_argument("--against", choices=PEERS, help="library to compare with")
    parser.add_argument(
        "--python", metavar="PATH", help="Python interpreter that has this library; default: the current one"
    )
    parser.add_argument(
        "--rounds", type=_positive, default=7, metavar="N", help="interleaved rounds; default: %(default)s"
    )
    parser.add_argument(
        "--threads",
        type=_positive,
        default=1,
        metavar="N",
        help="threads of an operator; default: %(default)s",
    )
    add_limits(parser)
    return f"""\
{ARGUMENT_SYNTAX}
The limits apply to loading the archive and reading the arguments; --seconds also limits the whole benchmark.

examples:
  ts bench model.pt x=float32[1,3,224,224] --against torch
  ts bench model.pt inputs.npz --against torch --python ~/torch/bin/python
  ts bench examples/mandelbrot.py:escape_times 40 30 50 --rounds 3
"""


def _positive(argument: str) -> int:
    if not argument.isdecimal() or int(argument) < 1:
        raise argparse.ArgumentTypeError(f"{argument!r} is not a positive integer")
    return int(argument)


def run(options: argparse.Namespace) -> int:
    """Run the benchmark and print the table. Return 1 if the results differ."""
    target = parse_target(options.target)
    with ExitStack() as stack:
        with limits_of(options, untrusted=not target.is_program):
            function = load_function(target)
            values, names = _encode_arguments(function, options.arguments)
            path, method = _archive(target, function, stack)
        timeout = _TIMEOUT_SECONDS if options.seconds is None else options.seconds or threading.TIMEOUT_MAX
        deadline = time.monotonic() + timeout
        engines = [stack.enter_context(_Process("ts", sys.executable, deadline))]
        if options.against is not None:
            peer = _Process(options.against, options.python or sys.executable, deadline)
            engines.append(stack.enter_context(peer))
        with console.progress(f"measuring {target.path.name}", options.rounds) as advance:
            model = {"path": path, "method": method, "threads": options.threads}
            measured = [engine.request("load", **model) for engine in engines]
            for engine, facts in zip(engines, measured, strict=True):
                facts |= engine.request("first", values=values, names=names)
            for _ in range(options.rounds):
                for engine, facts in zip(engines, measured, strict=True):
                    seconds = engine.request("round", min_seconds=0.1)["round"]
                    facts["round"] = min(seconds, facts.get("round", seconds))
                advance()
            for engine, facts in zip(engines, measured, strict=True):
                facts |= engine.request("memory")
    return _show(options, [engine.name for engine in engines], measured)


def _encode_arguments(
    function: ScriptFunction | ScriptMethod, words: list[str]
) -> tuple[list[Any], dict[str, Any]]:
    """Parse the command-line words, and encode the arguments for the worker processes of the engines."""
    positional, keywords = read_arguments(function, words)
    try:
        return [bench_worker.encode(value, ts) for value in positional], {
            name: bench_worker.encode(value, ts) for name, value in keywords.items()
        }
    except TypeError as error:
        raise UsageError(str(error)) from None


def _archive(target: Target, function: ScriptFunction | ScriptMethod, stack: ExitStack) -> tuple[str, str]:
    """Return the path of an archive and the name of the method to measure.

    A function of a Python file is first saved to a temporary archive.
    """
    if not target.is_program:
        path, method = str(target.path.resolve()), target.name or "forward"
        owns = method.rpartition(".")[2] == function.name
        return path, method if owns else f"{method}.{function.name}"
    path = str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "program.pt")
    (function.owner if isinstance(function, ScriptMethod) else function).save(path)
    return path, function.name if isinstance(function, ScriptMethod) else "forward"


class _Process:
    """Subprocess that runs one engine, and is terminated at the end of the `with` block."""

    def __init__(self, name: str, python: str, deadline: float) -> None:
        self.name, self.python, self.deadline = name, python, deadline
        environment = dict(os.environ)
        if name == "ts":  # the subprocess imports `ts` from the same folder
            folders = [str(Path(ts.__file__).parents[1]), environment.get("PYTHONPATH", "")]
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
        command = [python, bench_worker.__file__, name]
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
            )
        except OSError as error:
            raise UsageError(f"cannot run {python}: {error.strerror}") from None

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def request(self, command: str, **details: Any) -> Any:
        """Send a request and return the response. Raise ProgramError on timeout or an invalid response."""
        assert self.process.stdin is not None and self.process.stdout is not None
        timer = threading.Timer(max(self.deadline - time.monotonic(), 0.0), self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(json.dumps({"do": command, **details}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if not line:
            timed_out = time.monotonic() >= self.deadline
            raise ProgramError(
                f"{self.name} "
                f"{'timed out (--seconds sets the limit)' if timed_out else 'exited unexpectedly'}"
            )
        response = json.loads(line)
        if "error" in response:
            raise ProgramError(self._describe_error(response["error"]))
        return response

    def _describe_error(self, error: str) -> str:
        if error == f"ModuleNotFoundError: No module named '{self.name}'":
            return (
                f"{self.name} is not installed for {self.python}: "
                f"pip install {self.name}, or select another Python with --python"
            )
        return f"{self.name}: {error}"


def _show(options: argparse.Namespace, names: list[str], measured: list[dict[str, Any]]) -> int:
    """Print the measurements and the comparison of the results, and return the exit code."""
    threads = "one thread" if options.threads == 1 else f"{options.threads} threads"
    print(f"{options.target}, {threads}: best of {options.rounds} interleaved rounds")
    rows = [["", *(f"{name} {facts['version']}" for name, facts in zip(names, measured, strict=True))]]
    rows += [[row, *(duration(facts[key]) for facts in measured)] for key, row in _MEASUREMENTS.items()]
    rows.append(["memory", *(format_bytes(facts["memory"]) for facts in measured)])
    if len(names) > 1:
        rows[0].append(f"{names[1]} / {names[0]}")
        for row, key in zip(rows[1:], [*_MEASUREMENTS, "memory"], strict=True):
            row.append(f"{measured[1][key] / measured[0][key]:.2f}x")
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    if len(measured) == 1:
        return 0
    if not all("result" in facts for facts in measured):
        print("the results were not compared: they are too large or contain objects of a user-defined class")
        return 0
    differ = difference(*(bench_worker.decode(facts["result"], ts) for facts in measured))
    print("the results are equal" if differ == 0 else f"the results differ by at most {differ:.2g}")
    return 0 if differ < _TOLERANCE else 1


_TOLERANCE: Final = 1e-2  # maximal relative difference of two results that are 16-bit floats


def duration(seconds: float) -> str:
    """Format a time with three significant digits and a suitable unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def difference(first: Any, second: Any) -> float:
    """Return the largest absolute difference between two results, relative to the largest magnitude.

    Return infinity for different types, shapes or dtypes.
    """
    if isinstance(first, ts.Tensor) and isinstance(second, ts.Tensor):
        if first.shape != second.shape or first.dtype != second.dtype:
            return np.inf
        wide_dtype = ts.complex128 if first.is_complex() else ts.float64
        return _relative_difference(first.to(wide_dtype).numpy(), second.to(wide_dtype).numpy())
    if type(first) is not type(second):
        return np.inf
    if isinstance(first, dict):
        first, second = [*first, *first.values()], [*second, *second.values()]
    if isinstance(first, list | tuple):
        if len(first) != len(second):
            return np.inf
        return max(map(difference, first, second), default=0.0)
    if isinstance(first, float | complex):
        return _relative_difference(np.asarray(first), np.asarray(second))
    return 0.0 if first == second else np.inf


def _relative_difference(first: Any, second: Any) -> float:
    with np.errstate(all="ignore"):
        is_equal = (first == second) | (np.isnan(first) & np.isnan(second))
        if is_equal.all():
            return 0.0
        max_difference = np.where(is_equal, 0.0, np.abs(first - second)).max()
        scale = np.abs(first[np.isfinite(first)]).max(initial=1.0)
    return float(max_difference / scale) if np.isfinite(max_difference) else np.inf
