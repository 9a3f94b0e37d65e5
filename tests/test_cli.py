"""The command line: what it prints, and its exit codes."""

from pathlib import Path

import numpy as np
import pytest

from ts.cli import main

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
    """Each argument is read by the type of its parameter."""
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
        (["run", "{program}:length", "a", "b"], "takes 1 arguments"),
    ],
)
def test_usage_errors_exit_with_2(program, capsys, arguments, message):
    """A wrong command line is told apart from a wrong program."""
    code, _, err = output(capsys, *[a.format(program=program) for a in arguments])
    assert code == 2
    assert message in err


def test_failing_program_exits_with_1(program, capsys):
    """A run-time error shows the script's own stack, not Python's."""
    code, _, err = output(capsys, "run", f"{program}:divide", "1", "0")
    assert code == 1
    assert "return a // b" in err
    assert "cli.py" not in err


def test_limits_end_an_endless_program(program, capsys):
    """`--seconds` and `--fuel` bound a run."""
    for option in (["--seconds", "0.2"], ["--fuel", "1000"]):
        code, _, err = output(capsys, "run", f"{program}:forever", *option)
        assert code == 1
        assert "LimitExceeded" in err or "limit" in err


def test_stages_print(program, capsys):
    """graph, code and bytecode print the stages."""
    assert "prim::Loop" in output(capsys, "graph", f"{program}:total")[1]
    assert "def total(" in output(capsys, "code", f"{program}:total")[1]
    assert "RETURN" in output(capsys, "bytecode", f"{program}:total")[1].upper()


def test_check_reports_every_function(tmp_path, capsys):
    """check compiles all functions of a file and reports each wrong one with its place."""
    path = tmp_path / "cli_wrong.py"
    path.write_text(PROGRAM + "\n\ndef wrong(x: int) -> int:\n    return x + 'a'\n")
    code, out, err = output(capsys, "check", path)
    assert code == 1
    assert out.count("ok") == 7
    assert "wrong" in err and "HERE" in err


def test_info(capsys):
    """info names the versions and the backends."""
    code, out, _ = output(capsys, "info")
    assert code == 0
    assert "backend   cpu" in out and "NumPy" in out
