"""`ts check`: files, folders, packages and archives, and run-time failures that are certain."""

from pathlib import Path

import pytest

import ts
from tests.program_files import FOLDER, read
from tests.test_cli import output
from ts.cli.static_failures import failures

WRONG = """
import ts
from ts import Tensor, nn


def shapes(x: Tensor):
    a = ts.zeros(2, 3)
    b = ts.ones(4, 5)
    if x.dim() > 2:
        return a @ b + x
    return x


def dtypes(x: Tensor):
    return x + ts.arange(5).mean()


def indices(n: int):
    xs = [1, 2]
    return xs[2] + n


def division():
    return 7 // (4 - 4)


def guarded(x: Tensor):
    if x.dim() != 2:
        raise ValueError("two dimensions, please, not {}".format(x.dim()))
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(5, 2)
        self.register_buffer("start", ts.zeros(1, 3))

    def forward(self, x: Tensor):
        return self.second(self.first(x))

    @ts.jit.export
    def begin(self):
        return self.forward(self.start)
"""


@pytest.fixture
def failing_program(tmp_path: Path) -> Path:
    path = tmp_path / "cli_must_fail.py"
    path.write_text(WRONG)
    return path


def line_of(text: str) -> int:
    return WRONG.splitlines().index(text) + 1


def test_certain_failures_are_reported(failing_program, capsys):
    """Operations that fail for known shapes, dtypes and numbers are reported with the source lines of all
    calls."""
    code, out, err = output(capsys, "check", failing_program)
    assert code == 1
    assert out == "ok  guarded(Tensor x) -> Tensor\n"
    for name, message, line in [
        ("shapes", "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", "        return a @ b + x"),
        ("dtypes", "mean(): could not infer output dtype", "    return x + ts.arange(5).mean()"),
        ("indices", "IndexError: list index out of range", "    return xs[2] + n"),
        ("division", "division by 0", "    return 7 // (4 - 4)"),
        (
            "Net",
            "mat1 and mat2 shapes cannot be multiplied (1x4 and 5x2)",
            "        return self.forward(self.start)",
        ),
    ]:
        (report,) = [r for r in err.split(f"{failing_program}:") if r.startswith(f"{name}: ")]
        assert message in report
        assert f'File "{failing_program}", line {line_of(line)}' in report and line in report
    assert f"line {line_of('        return self.second(self.first(x))')}, in forward" in report


def test_inputs_given_by_options(failing_program, capsys):
    """`--input` sets dtype and shape of parameters by name, so that a reachable `raise` is reported."""
    code, _, err = output(capsys, "check", f"{failing_program}:guarded", "--input", "x=float32[1,2,3]")
    assert code == 1 and "ValueError: two dimensions, please, not 3" in err
    assert output(capsys, "check", f"{failing_program}:guarded", "--input", "x=int64[2,3]")[0] == 0
    code, _, err = output(capsys, "check", f"{failing_program}:Net", "--input", "x=float32[7,3]")
    assert code == 1 and "(7x4 and 5x2)" in err
    for given, message in [
        ("x", "--input: expected NAME=VALUE"),
        ("x=three", "'three' is not a Tensor"),
        ("x=float33[2]", "'float33' is not a dtype"),
        ("y=2", "--input y: no checked definition has this parameter"),
    ]:
        code, _, err = output(capsys, "check", f"{failing_program}:guarded", "--input", given)
        assert code == 2 and message in err


FINE = """
import ts
from ts import Tensor
from typing import List, Optional

class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = ts.nn.Conv2d(3, 4, 3)
        self.norm = ts.nn.BatchNorm2d(4)
        self.lstm = ts.nn.LSTM(4, 5)
        self.size = 3
    def forward(self, x: Tensor):
        return self.lstm(self.norm(self.conv(x)).mean(dim=[2]))
    @ts.jit.export
    def grow(self):
        self.size += 1
        return ts.zeros(4).view(self.size)

def grown():
    xs: List[int] = []
    for i in range(3):
        xs.append(i)
    return xs[2]

def resized():
    x = ts.zeros(2)
    x.resize_(3)
    return x[2]

def elements():
    x = ts.zeros(3)
    if x.sum() > 1:
        raise ValueError("never")
    return int(x[0]) + len(x.nonzero())

def places(z: Tensor):
    y = ts.zeros(2)
    if y.is_meta or y.device != ts.device("cpu"):
        raise ValueError("it is on the cpu")
    return y.to("cpu") + z

def carried():
    n = 4
    while n > 2:
        n -= 1
    return [1, 2, 3][n]

def refused(x: Optional[Tensor]):
    raise NotImplementedError("abstract")
"""


def test_possible_failures_are_not_reported(tmp_path, capsys):
    """Written values, loop-carried values, element reads and device queries count as unknown and are not
    reported."""
    path = tmp_path / "cli_fine.py"
    path.write_text(FINE)
    for given in ([], ["--input", "x=float32[2,3,8,6]"]):
        code, out, err = output(capsys, "check", path, *given)
        assert (code, err) == (0, "")
        assert len(out.splitlines()) == 7


RUNNING = [p for p in map(read, sorted(FOLDER.glob("**/*.py"))) if not (p.scripts_itself or p.compile_error)]


@pytest.mark.parametrize("program", RUNNING, ids=lambda p: f"{p.path.parent.name}/{p.path.stem}")
def test_programs_that_run_are_not_reported(program):
    """Of all language test programs, `ts check` reports exactly those that fail."""
    actual = failures(ts.jit.script(program.load(package="checked")).inlined_graph, [])
    expected = [] if program.runtime_error is None else [program.runtime_error[0]]
    assert {f.node.range.line for f in actual} <= set(expected), [f.format_message("main") for f in actual]


# ---- files -------------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Create a package with relative imports, two files of one name, and an unrelated file."""
    root = tmp_path / "cli_package"
    for name, text in {
        "__init__.py": "",
        "base.py": "import ts\ndef twice(x: ts.Tensor):\n    return x * 2\n",
        "sub/__init__.py": "from ..base import twice\n",
        "sub/model.py": "import ts\nfrom . import twice\ndef four(x: ts.Tensor):\n    return twice(twice(x))\n",
        "tool.py": "raise SystemExit('not to be imported')\n",
        ".hidden/x.py": "import ts\n1 / 0\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_packages_and_folders(package, capsys):
    """Relative imports are resolved; in a folder, files that import ts or torch are checked."""
    assert output(capsys, "check", package / "sub" / "model.py") == (0, "ok  four(Tensor x) -> Tensor\n", "")
    code, out, err = output(capsys, "check", package)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"ok  {package / 'base.py'}: twice(Tensor x) -> Tensor",
        f"ok  {package / 'sub' / 'model.py'}: four(Tensor x) -> Tensor",
    ]
    assert output(capsys, "run", f"{package / 'sub' / 'model.py'}:four", "[1.0]")[1] == "tensor([4.])\n"


def test_several_files(package, failing_program, tmp_path, capsys):
    """Each file is reported, also after a file that cannot be imported or read."""
    broken = tmp_path / "cli_broken.py"
    broken.write_text("def f(:\n")
    model = tmp_path / "model.pt"
    ts.jit.save(ts.jit.script(ts.nn.Linear(2, 3)), model)
    text = tmp_path / "text.pt"
    text.write_text("hello")
    code, out, err = output(capsys, "check", package / "base.py", broken, f"{failing_program}:division", text, model)
    assert code == 1
    assert out.splitlines() == [
        f"ok  {package / 'base.py'}: twice(Tensor x) -> Tensor",
        f"ok  {model}: forward(Tensor input) -> Tensor",
    ]
    for message in (f"{broken}: SyntaxError", f"{failing_program}:division: division by 0", f"cannot read {text}: "):
        assert message in err
    empty = tmp_path / "empty"
    empty.mkdir()
    code, _, err = output(capsys, "check", empty)
    assert code == 2 and "imports ts or torch" in err


def test_two_files_of_one_name(tmp_path, capsys):
    """Two files of one name are separate modules, and do not replace a standard library module."""
    import random
    import sys

    path = sys.path.copy()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "random.py").write_text(f"import ts\ndef {folder}(x: int):\n    return x\n")
    code, out, _ = output(capsys, "check", tmp_path / "a" / "random.py", tmp_path / "b" / "random.py")
    assert code == 0 and [line.split(": ")[1] for line in out.splitlines()] == [
        "a(int x) -> int",
        "b(int x) -> int",
    ]
    assert sys.modules["random"] is random and sys.path == path


def test_archives(tmp_path, capsys):
    """Shapes in an archive are derived from its parameters and the `--input` options."""
    model = tmp_path / "model.pt"
    ts.jit.save(ts.jit.script(ts.nn.Sequential(ts.nn.Linear(3, 4), ts.nn.Linear(5, 2))), model)
    assert output(capsys, "check", model)[0] == 0
    code, _, err = output(capsys, "check", model, "--input", "input=float32[7,3]")
    assert code == 1 and "(7x4 and 5x2)" in err and f"{model}:forward: " in err
    assert output(capsys, "check", f"{model}:forward")[0] == 0
    assert output(capsys, "check", f"{model}:absent")[0] == 2
