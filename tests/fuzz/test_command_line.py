"""Archives that somebody has changed on the command line: a result, or an error of ours, and never an accident."""

from tests.fuzz import archives
from tests.test_cli import output
from tests.test_cli_archives import Net

import ts
from ts.cli import main

COUNT = 25
LIMITS = ["--seconds", "20", "--bytes", "256M"]


def test_changed_archives(tmp_path, capsys, monkeypatch):
    """Every command ends with its own exit codes; what is no error of a program or of ts was told as one of a file."""
    accidents = []
    told = main.format_error

    def noted(error):
        if not isinstance(error, RuntimeError) and not archives.is_located(error):
            accidents.append(f"{type(error).__name__}: {error}")
        return told(error)

    monkeypatch.setattr(main, "format_error", noted)
    path, good, out = (tmp_path / name for name in ("changed.pt", "good.pt", "out.pt"))
    ts.jit.save(ts.jit.script(Net()), good)
    for seed in range(COUNT):
        path.write_bytes(archives.archive(seed))
        for command in (
            ["info", path],
            ["check", path],
            ["diff", path, good],
            ["convert", path, out, "--strip-debug"],
            ["convert", path, out, "--freeze"],
            ["convert", path, tmp_path / "out.safetensors"],
            ["run", path, "--fuel", "100000"],
        ):
            code, _, err = output(capsys, *command, *LIMITS)
            assert code in (0, 1, 2) and "InternalError" not in err, (seed, command[0], err)
            assert not accidents, (seed, command[0], accidents)
