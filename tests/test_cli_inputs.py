"""`--input` has one meaning in all commands, `--vary` makes sizes dynamic, and `--import` loads custom
operators."""

import subprocess
import sys
from pathlib import Path

import pytest

import ts
from ts.cli.main import main


def output(capsys, *words):
    """Return exit code, stdout and stderr of a command line."""
    code = main([str(word) for word in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def saved(module, path):
    """Save a module and return the path of the archive."""
    ts.jit.script(module.eval()).save(str(path))
    return path


class Convolution(ts.nn.Module):
    """Convolution with a variable batch size."""

    def __init__(self):
        super().__init__()
        self.conv = ts.nn.Conv2d(3, 4, 3)
        self.head = ts.nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.conv(x).mean([2, 3]))


class FixedBatch(ts.nn.Module):
    """Module that only accepts batches of two."""

    def forward(self, x):
        assert x.size(0) == 2
        return x.view(2, -1)


class Sizes(ts.nn.Module):
    """Module with parameters of several types."""

    def forward(self, x: ts.Tensor, lengths: ts.Tensor, sizes: list[int], scale: float = 1.0):
        return x.sum() + lengths.sum() + sum(sizes) * scale


class Positions(ts.nn.Module):
    """Module with a position table of limited length."""

    def __init__(self):
        super().__init__()
        self.table = ts.nn.Embedding(256, 4)

    def forward(self, ids):
        return self.table(ts.arange(ids.size(1)))


# ---- ts convert --vary


@pytest.mark.parametrize("sizes", ["1,3,32,32", "4,3,32,32"])
def test_a_size_varies(tmp_path, capsys, sizes):
    """`--vary` makes a size dynamic, even with example size 1; other sizes are fixed."""
    source, out = saved(Convolution(), tmp_path / "m.pt"), tmp_path / "m.pt2"
    code, _, err = output(capsys, "convert", source, out, "--input", f"x=float32[{sizes}]", "--vary", "x:0")
    assert code == 0, err
    program = ts.export.load(out).module()
    for batch in (1, 2, 7):
        assert program(ts.ones(batch, 3, 32, 32)).shape == (batch, 2)
    with pytest.raises((RuntimeError, AssertionError)):
        program(ts.ones(2, 3, 33, 32))


def test_a_size_that_is_fixed(tmp_path, capsys):
    """Specialized sizes, missing dimensions and example inputs of size 1 are errors."""
    source, out = saved(FixedBatch(), tmp_path / "m.pt"), tmp_path / "m.pt2"
    code, _, err = output(capsys, "convert", source, out, "--input", "x=float32[1,6]", "--vary", "x:0")
    assert code == 1 and "x" in err and not out.exists()
    for given, vary, message in [
        ("x=float32[2,3]", "x:2", "--vary x:2: x has only 2 dimensions"),
        ("x=[[1.0, 2.0]]", "x:0", "must have size 2 or more in this dimension, got 1"),
        ("x=float32[2,3]", "y:0", "--vary: expected NAME:DIM of a tensor passed by --input"),
    ]:
        code, _, err = output(capsys, "convert", source, out, "--input", given, "--vary", vary)
        assert code == 2 and message in err


# ---- --input


def test_literals_are_read_by_parameter_type(tmp_path, capsys):
    """`ts run`, `ts check` and `ts convert` parse a literal by the parameter's type."""
    source, out = saved(Sizes(), tmp_path / "m.pt"), tmp_path / "m.pt2"
    words = ["x=float32[2,3]", "lengths=[8, 8]", "sizes=[8, 8]", "scale=2"]
    given = [part for word in words for part in ("--input", word)]
    code, ran, err = output(capsys, "run", source, *words)
    assert code == 0, err
    code, checked, err = output(capsys, "check", source, *given, "--run")
    assert code == 0 and checked.endswith("(ran)\n"), err
    code, _, err = output(capsys, "convert", source, out, *given)
    assert code == 0, err
    code, again, err = output(capsys, "run", out, "x=float32[2,3]", "lengths=[8, 8]")
    assert code == 0 and ran.strip() in again, err


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("lengths=hello", "'hello' is not a Tensor"),
        ("sizes=float32[2]", "--input sizes: expected a List[int]"),
        ("sizes=[1.5]", "--input sizes: expected a List[int]"),
        ("scale=x", "'x' is not a float"),
    ],
)
def test_inputs_of_other_types(tmp_path, capsys, word, message):
    """All commands reject values of wrong types with the same message."""
    source, out = saved(Sizes(), tmp_path / "m.pt"), tmp_path / "m.pt2"
    name = word.partition("=")[0]
    words = [w for w in ("x=float32[2]", "lengths=[1]", "sizes=[1]") if not w.startswith(name)]
    given = [part for w in (*words, word) for part in ("--input", w)]
    for command in (["check", source], ["convert", source, out]):
        code, _, err = output(capsys, *command, *given)
        assert code == 2 and message in err


# ---- ts check --run


def test_report_states_unchecked_index_values(tmp_path, capsys):
    """Without `--run`, the report states that index values were not checked."""
    source = saved(Positions(), tmp_path / "m.pt")
    given = ["check", source, "--input", "ids=int64[1,300]"]
    code, out, _ = output(capsys, *given)
    assert code == 0 and "--run also checks values such as indices" in out
    code, _, err = output(capsys, *given, "--run")
    assert code == 1 and "index out of range in self" in err
    code, out, _ = output(capsys, "check", source, "--input", "ids=int64[1,256]", "--run")
    assert code == 0 and out.endswith("(ran)\n")
    code, out, _ = output(capsys, "check", source)
    assert code == 0 and out == "ok  forward(Tensor ids) -> Tensor\n"


def test_check_runs_with_all_inputs(tmp_path, capsys):
    """`--run` calls the function, or names the missing inputs."""
    source = saved(Sizes(), tmp_path / "m.pt")
    code, _, err = output(capsys, "check", source, "--input", "x=float32[2]", "--run")
    assert code == 2 and "--run needs --input for lengths, sizes of forward" in err
    code, _, err = output(capsys, "check", source, "--run")
    assert code == 2 and "--run calls functions with the values of --input" in err


# ---- --import


OPERATORS = """
import ts
library = ts.library.Library("{space}", "DEF")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x * 2, "CompositeExplicitAutograd")
"""
PROGRAM = """
import ts, {module}
class Net(ts.nn.Module):
    def forward(self, x):
        return ts.ops.{space}.twice(x)
ts.jit.script(Net()).save({path!r})
"""


def archive_with_operator(tmp_path: Path, space: str) -> tuple[Path, Path]:
    """Return an archive that calls a custom operator, and the file that defines it."""
    operators, archive = tmp_path / f"{space}_operators.py", tmp_path / f"{space}.pt"
    operators.write_text(OPERATORS.format(space=space))
    text = PROGRAM.format(module=operators.stem, space=space, path=str(archive))
    (tmp_path / "program.py").write_text(text)
    subprocess.run([sys.executable, "program.py"], check=True, cwd=tmp_path)
    return operators, archive


def test_custom_operators_are_imported(tmp_path, capsys, monkeypatch):
    """`--import` accepts a module name or a file; without it, the error names the operator."""
    operators, archive = archive_with_operator(tmp_path, "cli_by_file")
    code, _, err = output(capsys, "run", archive, "[1.0, 2.0]")
    assert code == 1 and "twice" in err
    code, out, err = output(capsys, "run", archive, "[1.0, 2.0]", "--import", operators)
    assert code == 0 and "2., 4." in out, err
    operators, archive = archive_with_operator(tmp_path, "cli_by_name")
    monkeypatch.chdir(tmp_path)
    code, out, err = output(capsys, "check", archive, "--import", operators.stem)
    assert code == 0 and out == "ok  forward(Tensor x) -> Tensor\n", err


def test_imports_that_fail(tmp_path, capsys):
    """A failing `--import` is reported in one line."""
    broken = tmp_path / "broken_operators.py"
    broken.write_text("raise ValueError('no')\n")
    code, _, err = output(capsys, "info", "--import", broken)
    assert code == 1 and "broken_operators.py:1: ValueError: no" in err
    code, _, err = output(capsys, "info", "--import", "no_such_module")
    assert code == 1 and "cannot import no_such_module: ModuleNotFoundError" in err
    code, _, err = output(capsys, "info", "--import", tmp_path / "none.py")
    assert code == 2 and "no such file" in err


def test_servers_import_custom_operators(tmp_path):
    """`ts serve --import` defines the operators in the serving process."""
    import asyncio

    pytest.importorskip("aiohttp")
    from ts.serve.fork_server_client import ForkServer

    operators, archive = archive_with_operator(tmp_path, "served_operators")
    settings = {"kind": "model", "path": str(archive), "method": "forward", "threads": 1}
    limits = {"seconds": 10.0, "bytes": 1 << 30, "answer": 1 << 20}

    async def load(*imports):
        fork_server = ForkServer({**settings, **limits, "imports": imports})
        try:
            return await fork_server.start()
        finally:
            await fork_server.close()

    assert asyncio.run(load(str(operators)))
    with pytest.raises(RuntimeError, match="twice"):
        asyncio.run(load())
