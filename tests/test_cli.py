"""The command line: output and exit codes."""

import io
import re
from pathlib import Path

import numpy as np
import pytest

from ts.cli import console
from ts.cli.main import main

PROGRAM = """
from typing import Dict, List, Optional
import ts
from ts import Tensor


def scale(x: Tensor, by: float = 2.0) -> Tensor:
    return x * by


def total(values: List[int]) -> int:
    s = 0
    for v in values:
        s += v
    return s


def length(text: str) -> int:
    return len(text)


def either(flag: bool, x: Optional[int]) -> int:
    if flag and x is not None:
        return x
    return -1


def names(tensors: Dict[str, Tensor]) -> List[str]:
    return list(tensors.keys())


def forever() -> int:
    n = 0
    while True:
        n += 1
    return n


def divide(a: int, b: int) -> int:
    return a // b
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "cli_program.py"
    path.write_text(PROGRAM)
    return path


def output(capsys, *arguments: object) -> tuple[int, str, str]:
    code = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("total", ["[1, 2, 3]"], "6\n"),
        ("length", ["hello"], "5\n"),
        ("either", ["true", "7"], "7\n"),
        ("either", ["x=7", "flag=false"], "-1\n"),
        ("either", ["True", "None"], "-1\n"),
        ("scale", ["[1.0, 2.5]"], "tensor([2., 5.])\n"),
        ("scale", ["[1.0]", "by=3"], "tensor([3.])\n"),
        ("divide", ["-7", "2"], "-4\n"),
    ],
)
def test_run_reads_arguments_by_type(program, capsys, function, arguments, expected):
    """`ts run` parses arguments by the types of the parameters."""
    dashes = ["--"] if any(a.startswith("-") for a in arguments) else []
    assert output(capsys, "run", f"{program}:{function}", *dashes, *arguments) == (0, expected, "")


def test_run_reads_files(program, tmp_path, capsys):
    """`@path` is a text file, `.npy` and `.npz` are arrays; `--out` writes one."""
    text = tmp_path / "text.txt"
    text.write_text("four")
    assert output(capsys, "run", f"{program}:length", f"@{text}")[1] == "4\n"
    np.save(tmp_path / "x.npy", np.array([1.0, 2.0]))
    np.savez(tmp_path / "xs.npz", a=np.array([3.0]), b=np.array([4.0]))
    assert "[2., 4.]" in output(capsys, "run", f"{program}:scale", tmp_path / "x.npy")[1]
    assert "[8.]" in output(capsys, "run", f"{program}:scale", f"{tmp_path / 'xs.npz'}:b")[1]
    assert output(capsys, "run", f"{program}:names", tmp_path / "xs.npz")[1] == "['a', 'b']\n"
    assert output(capsys, "run", f"{program}:scale", tmp_path / "x.npy", "--out", tmp_path / "y.npy")[0] == 0
    assert np.load(tmp_path / "y.npy").tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "absent.py:f"], "no such file: absent.py"),
        (["run", "{program}:absent"], "defines no function 'absent'"),
        (["run", "{program}"], "expected FILE.py:FUNCTION"),
        (["run", "{program}:scale", "absent.npy"], "cannot read absent.npy"),
        (["run", "{program}:length", "@absent.txt"], "cannot read absent.txt"),
        (["run", "{program}:total", "one"], "'one' is not a List[int]"),
        (["run", "{program}:length", "a", "b"], "takes 1 argument:"),
    ],
)
def test_usage_errors_exit_with_2(program, capsys, arguments, message):
    """Usage errors exit with status 2, program errors with 1."""
    code, _, err = output(capsys, *[a.format(program=program) for a in arguments])
    assert code == 2
    assert message in err


def test_output_at_import_is_separate(tmp_path, capsys):
    """Output printed during imports and construction is separate from command output; output of the function
    is not."""
    path = tmp_path / "cli_loud.py"
    path.write_text("""
import ts
print("imported")


@ts.jit.script
def shown(n: int) -> int:
    print("shown", n)
    return n


shown(1)


class Net(ts.nn.Module):
    def __init__(self):
        super().__init__()
        print("made")

    def forward(self, x):
        return x + 1
""")
    code, graph, err = output(capsys, "graph", f"{path}:Net")
    assert code == 0 and graph.startswith("graph(%self") and err == "imported\nshown 1\nmade\n"
    assert output(capsys, "check", path) == (0, "ok  shown(int n) -> int\nok  module Net()\n", "imported\nshown 1\nmade\n")
    assert output(capsys, "run", f"{path}:shown", "2") == (0, "shown 2\n2\n", "imported\nshown 1\n")


def test_failing_program_exits_with_1(program, capsys):
    """A run-time error exits with status 1 and shows the script's stack, not Python's."""
    code, _, err = output(capsys, "run", f"{program}:divide", "1", "0")
    assert code == 1
    assert "return a // b" in err
    assert "cli.py" not in err


def test_limits_end_an_endless_program(program, capsys):
    """`--seconds` and `--fuel` limit a run."""
    for option in (["--seconds", "0.2"], ["--fuel", "1000"]):
        code, _, err = output(capsys, "run", f"{program}:forever", *option)
        assert code == 1
        assert "LimitExceeded" in err or "limit" in err


def test_stages_print(program, capsys):
    """The commands `graph`, `code` and `bytecode` print these stages."""
    assert "prim::Loop" in output(capsys, "graph", f"{program}:total")[1]
    assert "def total(" in output(capsys, "code", f"{program}:total")[1]
    assert "RETURN" in output(capsys, "bytecode", f"{program}:total")[1].upper()


def test_check_reports_every_function(tmp_path, capsys):
    """`ts check` compiles all functions of a file and reports each error with its location."""
    path = tmp_path / "cli_wrong.py"
    path.write_text(PROGRAM + "\n\ndef wrong(x: int) -> int:\n    return x + 'a'\n")
    code, out, err = output(capsys, "check", path)
    assert code == 1
    assert out.count("ok") == 7
    assert "wrong" in err and "HERE" in err


CLASSES = """
import enum
import ts

@ts.jit.ignore
def stays_in_python(x):
    return {x}

class Wrong(Exception):
    pass

class Color(enum.Enum):
    RED = 1

class Account:
    def __init__(self, n: int):
        self.n = n
    def more(self) -> int:
        return self.absent

class Doubling(ts.nn.Module):
    def forward(self, x):
        return x * 2

class Scaling(ts.nn.Module):
    def __init__(self, n: int):
        super().__init__()
        self.n = n
    def forward(self, x):
        return x.absent(self.n)

scaling = Scaling(3)
"""


def test_check_compiles_classes_and_modules(tmp_path, capsys):
    """`ts check` accepts classes, modules and module classes, and omits Python-only objects."""
    path = tmp_path / "cli_classes.py"
    path.write_text(CLASSES)
    code, out, err = output(capsys, "check", path)
    assert code == 1
    assert out.splitlines() == [
        "ok  class Color",
        "ok  module Doubling()",
        "ok  module Scaling: not compiled, because its constructor requires n; check an instance of it",
    ]
    assert ":Account:" in err and "self.absent" in err
    assert ":scaling:" in err and "x.absent" in err
    assert output(capsys, "check", f"{path}:Doubling")[:2] == (0, "ok  module Doubling()\n")
    code, _, err = output(capsys, "check", f"{path}:Absent")
    assert code == 2
    assert "defines no 'Absent'; it defines: Account, Color, Doubling, Scaling, scaling" in err


def test_modules_that_are_not_scripted(tmp_path, capsys):
    """`run` and `debug` call `forward` of an `nn.Module` that the file defines."""
    path = tmp_path / "cli_module.py"
    path.write_text(CLASSES.replace("scaling = Scaling(3)", "doubling = Doubling()"))
    assert output(capsys, "run", f"{path}:doubling", "[1.0, 2.0]")[:2] == (0, "tensor([2., 4.])\n")
    code, out, _ = output(capsys, "debug", "-c", "p x", "-c", "c", f"{path}:doubling", "[1.0]")
    assert code == 0
    assert out.splitlines()[-3:] == ["tensor([1.])", "(ts) c", "returned tensor([2.])"]


def test_info(capsys):
    """`ts info` prints the versions and the backends."""
    code, out, _ = output(capsys, "info")
    assert code == 0
    assert "backend   cpu" in out and "NumPy" in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n1 / 0\n", ":2: ZeroDivisionError: division by zero"),
        ("import absent_module\n", ":1: ModuleNotFoundError: No module named 'absent_module'"),
        ("def f(:\n", "SyntaxError: invalid syntax"),
    ],
)
def test_errors_at_import_have_a_location(tmp_path, capsys, text, message):
    path = tmp_path / "cli_fails.py"
    path.write_text(text)
    code, _, err = output(capsys, "check", path)
    assert code == 1
    assert message in err


def test_enums_devices_and_modules(tmp_path, capsys):
    """Enum members and devices are passed by name; a scripted module runs its `forward`."""
    path = tmp_path / "cli_kinds.py"
    path.write_text(KINDS)
    assert output(capsys, "run", f"{path}:value", "GREEN")[:2] == (0, "2\n")
    assert output(capsys, "run", f"{path}:value", "Colour.RED")[:2] == (0, "1\n")
    assert "not a member of" in output(capsys, "run", f"{path}:value", "PINK")[2]
    assert output(capsys, "run", f"{path}:kind", "cuda:1")[:2] == (0, "cuda\n")
    assert output(capsys, "run", f"{path}:kind", "toaster")[0] == 2
    assert output(capsys, "run", f"{path}:net", "[1.0]", "by=3")[:2] == (0, "tensor([3.])\n")
    assert "aten::mul" in output(capsys, "graph", f"{path}:net")[1]


KINDS = """
import enum
import ts


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


def value(c: Colour) -> int:
    return c.value


def kind(d: ts.device) -> str:
    return d.type


class Net(ts.nn.Module):
    def forward(self, x: ts.Tensor, by: int = 2) -> ts.Tensor:
        return x * by


net = ts.jit.script(Net())
"""


class Screen(io.StringIO):
    """Output stream whose `isatty` returns True."""

    def isatty(self) -> bool:
        return True


def test_colours_on_a_terminal_only(monkeypatch):
    """Terminal output has colours, other output has none; the words are equal in both."""
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = 'f: wrong:\n  File "a.py", line 1\n    x + 1\n    ~~~~~ <--- HERE'
    calls = [
        lambda stream: console.table(("what", "found"), [("ts", "0.1.0"), ("NumPy", "2")], stream),
        lambda stream: console.program("graph(%x : int):\n  return (%x)", "graph", stream),
        lambda stream: console.program("def f(x: int) -> int:\n  return x", "code", stream),
        lambda stream: console.status(True, "f(int x) -> int", stream),
        lambda stream: console.status(False, text, stream),
    ]
    for call in calls:
        plain, screen = io.StringIO(), Screen()
        call(plain)
        call(screen)
        assert "\x1b[" in screen.getvalue() and "\x1b[" not in plain.getvalue()
        words = re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue()).split()
        assert [w for w in words if w not in ("what", "found")] == plain.getvalue().split()
