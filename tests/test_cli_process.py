"""The command line in a separate process: signals, pipes, exit codes, help, progress."""

import io
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from ts.cli import console
from ts.cli.main import COMMANDS

LOOP = """
import ts

def forever(n: int) -> int:
    while True:
        n += 1
    return n

def many(n: int) -> str:
    text = ""
    for i in range(n):
        text += "word "
    return text
"""


def command(*arguments: object, **options: object) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "ts", *map(str, arguments)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.fixture
def loop(tmp_path):
    path = tmp_path / "loop.py"
    path.write_text(LOOP)
    return path


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="there are no pipes of Unix")
def test_closed_pipe_ends_the_command_silently(loop):
    """`ts run ... | head` ends by SIGPIPE without a message."""
    process = command("run", f"{loop}:many", 100_000)
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(60) == -signal.SIGPIPE


def test_control_c(loop):
    """Ctrl-C exits with status 130 and without a traceback."""
    process = command("run", "--time", f"{loop}:forever", 0)
    deadline = time.monotonic() + 60
    code = None
    while code is None and time.monotonic() < deadline:  # ignored before the program starts
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        try:
            code = process.wait(0.5)
        except subprocess.TimeoutExpired:
            continue
    assert code == 130
    output = process.stderr.read()  # Python prints a signal that is raised in a callback of an import, and continues
    assert output.rpartition("KeyboardInterrupt: \n")[2] == "interrupted\n" and (
        output == "interrupted\n" or output.startswith("Exception ignored in: <function _get_module_lock")
    )


def test_errors_go_to_standard_error(loop):
    process = command("run", f"{loop}:absent")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (
        2,
        "",
    ) and "defines no function 'absent'; it defines: forever, many" in err


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_its_own_help(name):
    """Each command's help contains examples."""
    process = command(name, "--help", env={**os.environ, "COLUMNS": "100"})
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert f"usage: ts {name}" in out and "examples:\n" in out
    others = [other for other in COMMANDS if other != name and f"\n  ts {other} " in out]
    assert f"\n  ts {name} " in out and others == []


def test_help_and_invalid_commands_load_nothing():
    """`ts --help` imports no NumPy."""
    code = "import sys\nfrom ts.cli.main import main\ntry:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    print('numpy' in sys.modules, end.code)"
    for word, expected in (("--help", "False 0"), ("absent", "False 2"), ("--version", "False 0")):
        done = subprocess.run([sys.executable, "-c", code, word], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == expected


class Screen(io.StringIO):
    """Stream whose `isatty` returns True."""

    def isatty(self):
        return True


def test_progress_of_long_commands_is_shown_on_terminals(monkeypatch):
    """Progress of long commands is shown on terminals only, after a delay."""
    pytest.importorskip("rich")
    monkeypatch.setenv("TERM", "xterm-256color")
    for stream, patience, work, shown in [
        (Screen(), 0.01, 0.3, True),
        (Screen(), 60, 0.05, False),
        (io.StringIO(), 0.01, 0.1, False),
    ]:
        monkeypatch.setattr(console, "_PROGRESS_DELAY_SECONDS", patience)
        monkeypatch.setattr(sys, "stderr", stream)
        with console.progress("checking 2 files", 2) as advance:
            time.sleep(work)
            advance()
            time.sleep(work)
        assert ("checking 2 files" in stream.getvalue()) == shown
        assert bool(stream.getvalue()) == shown


def test_arrays_through_pipes(tmp_path):
    """`-` reads a tensor's file from standard input and writes the result to standard output."""
    path = tmp_path / "piped.py"
    path.write_text("import ts\ndef twice(x: ts.Tensor) -> ts.Tensor:\n    return x * 2\n")
    given = io.BytesIO()
    np.save(given, np.arange(3.0))
    words = [sys.executable, "-m", "ts", "run", f"{path}:twice", "-", "-o", "-"]
    result = subprocess.run(words, input=given.getvalue(), capture_output=True, timeout=120, check=False)
    assert (result.returncode, result.stderr) == (0, b"")
    assert np.load(io.BytesIO(result.stdout)).tolist() == [0.0, 2.0, 4.0]
    result = subprocess.run(words, input=b"no array", capture_output=True, timeout=120, check=False)
    assert result.returncode == 2 and result.stderr.startswith(b"ts run: cannot read -: ")
