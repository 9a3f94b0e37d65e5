"""`ts bench`: the table, values exchanged with engines, and error messages."""

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest

import ts
from tests.test_cli import output
from ts.cli import bench, bench_worker

PROGRAM = """
from typing import Dict, List, Tuple
import ts
from ts import Tensor

def scale(x: Tensor, by: float = 2.0) -> Tensor:
    return x * by

def many(xs: List[Tensor], names: Dict[str, int]) -> Tuple[Tensor, str]:
    print("noise")
    return xs[0] + names["n"], "".join(names.keys())

def forever(n: int) -> int:
    while True:
        n += 1
    return n

class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = ts.nn.Linear(3, 2)

    def forward(self, x):
        return self.layer(x)
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.pt"
    ts.jit.script(ts.nn.Sequential(ts.nn.Linear(3, 2))).save(path)
    return path


@pytest.mark.parametrize("name", ("scale", "Net"))
def test_a_program_alone(program, capsys, name):
    code, out, err = output(capsys, "bench", f"{program}:{name}", "float32[2,3]", "--rounds", 1)
    assert (code, err) == (0, "")
    assert [line.split("  ")[0] for line in out.splitlines()[2:]] == ["start", "first call", "call", "memory"]
    assert f"ts {ts.__version__}" in out.splitlines()[1] and "results" not in out


@pytest.mark.parametrize("name", ("", ":forward", ":0", ":0.forward"))
def test_archives(model, capsys, name):
    """`ts bench` runs an archive, its method, a submodule and a method of the submodule."""
    code, out, err = output(
        capsys, "bench", f"{model}{name}", "input=float32[2,3]", "--rounds", 1, "--threads", 2
    )
    assert (code, err) == (0, "") and f"{model}{name}, 2 threads: best of 1 interleaved rounds" in out


@pytest.mark.parametrize(
    ("words", "expected", "message"),
    (
        (["scale", "float33[2]"], 2, "'float33' is not a dtype"),
        (["scale"], 2, "missing arguments x of scale("),
        (["scale", "[1.0]", "--rounds", "0"], 2, "'0' is not a positive integer"),
        (
            ["scale", "[1.0]", "--against", "torch", "--python", "/nowhere/python"],
            2,
            "cannot run /nowhere/python",
        ),
        (
            ["scale", "[1.0]", "--against", "torch", "--python", "{empty}"],
            1,
            "torch is not installed for {empty}: pip",
        ),
        (["forever", "1", "--seconds", "3"], 1, "ts timed out (--seconds sets the limit)"),
    ),
)
def test_error_messages(program, tmp_path, capsys, words, expected, message):
    empty = tmp_path / "python"  # a Python without installed packages
    empty.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "$@"\n')
    empty.chmod(0o755)
    name, *rest = (word.format(empty=empty) for word in words)
    try:
        code, out, err = output(capsys, "bench", f"{program}:{name}", *rest)
    except SystemExit as error:  # raised by argparse
        code, (out, err) = error.code, capsys.readouterr()
    assert code == expected and out == "" and message.format(empty=empty) in err


def values():
    yield from (None, True, 3, 2.5, float("inf"), "text", 1 + 2j, [1, (2, "x")], {1: "a", "b": [None]})
    for dtype in (ts.float32, ts.bfloat16, ts.float16, ts.int64, ts.bool, ts.uint8, ts.complex64):
        yield from (ts.ones(2, 3, dtype=dtype).t(), ts.ones((), dtype=dtype), ts.ones(0, 2, dtype=dtype))


@pytest.mark.parametrize("value", list(values()), ids=str)
def test_values_are_serialized(value):
    """Values survive JSON encoding with types, dtypes, sizes and elements."""
    result = bench_worker.decode(json.loads(json.dumps(bench_worker.encode(value, ts))), ts)
    assert bench.difference(result, value) == 0


def test_unserializable_values():
    with pytest.raises(TypeError, match="a value of type set cannot be sent to another process"):
        bench_worker.encode({1}, ts)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    (
        (ts.tensor([1.0, 4.0]), ts.tensor([1.0, 5.0]), 0.25),
        (ts.tensor([np.nan, 4.0]), ts.tensor([np.nan, 4.0]), 0),
        (ts.tensor([np.inf]), ts.tensor([np.inf]), 0),
        (ts.tensor([np.inf]), ts.tensor([1.0]), np.inf),
        (ts.tensor([1]), ts.tensor([1.0]), np.inf),
        (ts.ones(2), ts.ones(1, 2), np.inf),
        ([1.0, 2.0], [1.0], np.inf),
        ({"a": 1.0}, {"b": 1.0}, np.inf),
        ((1, "a"), (1, "a"), 0),
        (1.0, 2.0, 1.0),
        (1, 2, np.inf),
        (1, True, np.inf),
        ([], [], 0),
    ),
)
def test_difference_of_results(one, other, expected):
    assert bench.difference(one, other) == expected


@pytest.mark.parametrize(
    ("seconds", "text"),
    ((2.0, "2 s"), (0.0123, "12.3 ms"), (1e-6, "1 us"), (4.567e-7, "457 ns"), (123.0, "123 s")),
)
def test_durations(seconds, text):
    assert bench.duration(seconds) == text


def test_bench_worker_protocol(program, tmp_path):
    """A bench worker writes one response line per request; program output is separate, errors are responses,
    and later requests succeed."""
    values = [bench_worker.encode([ts.ones(2)], ts)]
    path = tmp_path / "many.pt"
    output_of = ts.jit.CompilationUnit(PROGRAM[PROGRAM.index("def many") : PROGRAM.index("def forever")]).many
    output_of.save(path)
    requests = [
        {"do": "load", "path": str(path), "method": "forward", "threads": 1},
        {"do": "first", "values": values, "names": {"names": {"dict": [["m", 1]]}}},
        {"do": "first", "values": values, "names": {"names": {"dict": [["n", 1]]}}},
        {"do": "round", "min_seconds": 0.001},
    ]
    answers = subprocess.run(
        [sys.executable, bench_worker.__file__, "ts"],
        input="".join(f"{json.dumps(request)}\n" for request in requests),
        capture_output=True, text=True, timeout=100,
    ).stdout.splitlines()  # fmt: skip
    start, wrong, first, round = map(json.loads, answers)
    assert start["start"] > 0 and start["version"] == ts.__version__
    assert "KeyError" in wrong["error"] or "n" in wrong["error"]
    tensor, text = bench_worker.decode(first["result"], ts)
    assert ts.equal(tensor, ts.ones(2) + 1) and text == "n"
    assert 0 < round["round"] < 1


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="PyTorch is installed")
def test_without_torch(program, capsys):
    code, _, err = output(capsys, "bench", f"{program}:scale", "[1.0]", "--against", "torch")
    assert code == 1 and "torch is not installed" in err
