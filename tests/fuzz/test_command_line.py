"""Commands on mutated archives print a result or an error of `ts`."""

from tests.fuzz import archives
from tests.test_cli import output
from tests.test_cli_archives import Net

import ts
from ts.cli import main

COUNT = 25
LIMITS = ["--seconds", "20", "--bytes", "256M"]


def test_changed_archives(tmp_path, capsys, monkeypatch):
    """Every command on a mutated archive exits with a documented status, and its errors have source
    locations."""
    accidents = []
    format_error = main.format_error

    def check_and_format(error):
        if not isinstance(error, RuntimeError) and not archives.is_located(error):
            accidents.append(f"{type(error).__name__}: {error}")
        return format_error(error)

    monkeypatch.setattr(main, "format_error", check_and_format)
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
