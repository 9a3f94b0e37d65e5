"""Load mutated `.pt2` files, which must load as valid programs or raise an `ArchiveError` in bounded time.

Input: a range of seeds.  Output: a line for each file that neither loads nor raises an expected error:

    python -m tests.fuzz.exported_files 0 300            300 files, each with one to three mutations
    python -m tests.fuzz.exported_files SEED             the file of a seed, with the traceback

A loaded program is printed, explained, checked, unflattened, saved again and run on its example arguments, by the
functions of the command line and by the Python API.  A seed determines its file.
"""

from __future__ import annotations

import io
import json
import random
import sys
import zipfile
from functools import cache
from typing import Any

import ts
from tests.fuzz import subprocess_watchdog
from tests.fuzz.pt2_mutators import changed, written
from ts._higher_order_ops import map, scan, while_loop
from ts.cli import pt2_target
from ts.errors import ArchiveError, LimitExceeded, TsError
from ts.export import Dim, symbol_report, export, load, save, unflatten
from ts.export.shape_check import ShapeError
from ts.export.verifier import SpecViolationError

SECONDS = 2  # limit for loading a file, and for each use of the program
LIMITS: dict[str, Any] = {"seconds": 2, "bytes": 1 << 27}
BYTES = subprocess_watchdog.BYTES
RECORD = "model/models/model.json"
CONFIGS = ("model/data/weights/model_weights_config.json", "model/data/constants/model_constants_config.json")
REJECTION_ERRORS = (ArchiveError, LimitExceeded)
# Errors of running programs: failed conditions, and errors of operators and Python for invalid arguments.
ERRORS = (AssertionError, RuntimeError, ValueError, TypeError, IndexError, ArithmeticError, NotImplementedError, TsError)


class Static(ts.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = ts.nn.Conv2d(1, 2, 1), ts.nn.BatchNorm2d(2)
        self.register_buffer("steps", ts.zeros(1))
        self.table = ts.tensor([1.0, 2.0])

    def forward(self, x: Any, n: Any, *, pair: Any) -> Any:
        self.steps.add_(1)
        a, b = ts.split(self.norm(self.conv(x)), 1, 1)
        return {"y": (a.flatten(1) + b.flatten(1))[:, :2] * self.table * n, "rest": [pair["a"] - pair["b"], None, 3]}


class Sizes(ts.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = ts.nn.Linear(4, 2)

    def forward(self, x: Any, y: Any) -> Any:
        if x.shape[0] > 2 * y.shape[0]:
            x = x[: y.shape[0]]
        z = ts.cat([x, y]).view(-1, 2).chunk(2)[0]
        return self.linear(x).relu() * y.shape[0], z, ts.full((y.shape[0], y.shape[0] * 3 - 1), float("inf")), x.shape[0] % 2 + y.shape[0] // 2


class Data(ts.nn.Module):
    def forward(self, x: Any, k: Any) -> Any:
        n = k.item()
        ts._check(n >= 1)
        ts._check(n <= x.shape[0])
        rows = x[x.sum(1) > 0]
        return x[:n] * 2, ts.zeros(n, 3), x.nonzero(), rows.sum(0), x.shape[0] * 2


class Functions(ts.nn.Module):
    def forward(self, x: Any) -> Any:
        y = ts.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))
        z = map(lambda row: row / row.sum(), x)
        c, s = scan(lambda carry, row: (carry + row, carry * row), ts.zeros(3), x)
        _, w = while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (ts.tensor(0), x))
        return y, z, c, s, w


@cache
def originals() -> list[dict[str, bytes]]:
    """Return the records of the files to mutate."""
    ts.manual_seed(0)
    rows = Dim("rows", min=4, max=64)
    pair = {"a": ts.ones(2), "b": ts.zeros(2)}
    doubled = {0: 2 * Dim("half", max=9)}
    nested = ts.nn.Sequential(ts.nn.Linear(4, 4), ts.nn.Sequential(ts.nn.ReLU(), ts.nn.Linear(4, 2)))
    programs = [
        export(Static().eval(), (ts.ones(1, 1, 2, 2), 2), {"pair": pair}),
        export(Sizes(), (ts.ones(10, 4), ts.ones(4, 4)), dynamic_shapes=({0: Dim.AUTO}, {0: rows})),
        export(Data(), (ts.ones(5, 3), ts.tensor(2)), dynamic_shapes=({0: Dim.AUTO}, None)),
        export(Functions(), (ts.ones(4, 3),), dynamic_shapes=({0: Dim.AUTO},)),
        export(nested, (ts.ones(4, 4),), dynamic_shapes=(doubled,), preserve_module_call_signature=("1",)),
    ]
    found = []
    for program in [*programs, programs[1].run_decompositions()]:
        file = io.BytesIO()
        save(program, file)
        with zipfile.ZipFile(file) as archive:
            found.append({name: archive.read(name) for name in archive.namelist()})
    return found


def file_of(seed: int) -> bytes:
    """Return the file of a seed."""
    generator = random.Random(seed)
    records = generator.choice(originals())
    configs = [name for name in CONFIGS if len(records.get(name, b"")) > 20]
    name = RECORD if not configs or generator.random() < 0.9 else generator.choice(configs)
    tree = json.loads(records[name])
    if name == RECORD:
        tree = changed(tree, generator)
    else:
        tree["config"] = changed({"range_constraints": {}, "guards_code": [], "graph_module": {"metadata": {}, "graph": {"nodes": []}}} | tree, generator).get("config", {})
    return zipped(records | {name: written(tree)})


def zipped(records: dict[str, bytes]) -> bytes:
    """Return an archive with these records."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for each, data in records.items():
            archive.writestr(each, data)
    return file.getvalue()


def loaded(data: bytes) -> Any:
    """Return the loaded program, or None if `load` raises an expected error."""
    try:
        return load(io.BytesIO(data))
    except REJECTION_ERRORS:
        return None


def use_program(program: Any) -> None:
    """Run a program through the command line functions and the Python API."""
    function = pt2_target.ExportedFunction(program)
    assert str(function.graph) and function.code
    pt2_target.describe_inputs(function), pt2_target.ranges(program), pt2_target.operators(program), pt2_target.conditions(program)
    for attempt, errors in (
        (lambda: pt2_target.find_shape_errors(program), ()),
        (lambda: symbol_report.explain_symbols(program), ShapeError),
        (program.validate, (TsError, SpecViolationError)),
        (lambda: unflatten(program), (TsError, RuntimeError)),  # for call signatures that cannot be preserved
        (lambda: save(program, io.BytesIO()), ArchiveError),
        (lambda: run(program), ERRORS),
    ):
        try:
            attempt()
        except LimitExceeded:
            continue
        except errors:
            continue


def run(program: Any) -> None:
    """Run a program twice on its example arguments: first as Python, then compiled."""
    if program.example_inputs is not None:
        args, kwargs = program.example_inputs
        module = program.module()
        for _ in range(2):
            module(*args, **kwargs)


def check(seed: int) -> bool:
    """Return True if the file of a seed loads; unexpected errors are raised."""
    return check_file(file_of(seed))


def check_file(data: bytes) -> bool:
    """Return True if a file loads; unexpected errors are raised."""
    program = loaded(data)
    if program is None:
        return False
    with ts.limits(**LIMITS):
        use_program(program)
    return True


def main(first: str, last: str, *place: str) -> None:
    """Check the files of these seeds."""
    for records in originals():  # imports modules before the time limits start
        check_file(zipped(records))
    calls = subprocess_watchdog.Calls(*place, seconds=2 * SECONDS, bytes=BYTES)
    for seed in range(int(first), int(last)):
        calls.run(f"file {seed}", (), check, seed)


def problems(first: int, last: int) -> list[str]:
    """Return the problems found with the files of a range of seeds."""
    return subprocess_watchdog.problems(__spec__.name, first, last)


if __name__ == "__main__":
    subprocess_watchdog.from_command_line(sys.argv[1:], check, problems, main)
