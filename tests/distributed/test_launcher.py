"""`ts.distributed.run` starts a program once for each rank of this machine."""

import os
import subprocess
import sys

import pytest

from ts.cli.main import main
from ts.distributed import launcher, run

SHOW = """
import os, sys
names = "RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE GROUP_RANK MASTER_ADDR TORCHELASTIC_RESTART_COUNT".split()
line = " ".join([*(os.environ[name] for name in names), *sys.argv[1:]])
open(os.path.join(OUT, os.environ["RANK"] + "." + os.environ["TORCHELASTIC_RESTART_COUNT"]), "w").write(line)
"""


@pytest.fixture
def program(tmp_path):
    """Return a function that writes a program that logs its environment and arguments."""

    def write(rest=""):
        path = tmp_path / "program.py"
        path.write_text(f"OUT = {str(tmp_path)!r}\n{SHOW}\n{rest}")
        return str(path)

    return write


def lines(tmp_path):
    """Return the output lines of the processes by rank and attempt."""
    return {path.name: path.read_text() for path in tmp_path.iterdir() if path.name[0].isdigit()}


def test_environment_and_arguments(program, tmp_path):
    """Each rank has its environment; arguments after the program belong to it."""
    run.main(["--nproc-per-node", "2", program(), "--nproc-per-node", "x"])
    rest = "2 2 0 127.0.0.1 0 --nproc-per-node x"
    assert lines(tmp_path) == {"0.0": f"0 0 {rest}", "1.0": f"1 1 {rest}"}


def test_ranks_of_several_machines(program, tmp_path):
    """Each machine starts its own ranks."""
    words = ["--nnodes=3", "--node_rank=1", "--nproc_per_node=2", "--master_addr=node0", "--master_port=1"]
    run.main([*words, program()])
    assert lines(tmp_path) == {"2.0": "2 0 6 2 1 node0 0", "3.0": "3 1 6 2 1 node0 0"}


def test_a_failure_ends_all(program, tmp_path, capfd):
    """A failure names rank and exit code, and terminates the other processes."""
    path = program("import time\nif os.environ['RANK'] == '1': sys.exit(7)\ntime.sleep(600)")
    with pytest.raises(SystemExit) as error:
        run.main(["--nproc-per-node", "2", path])
    assert error.value.code == 1
    assert "rank 1 (local rank 1, process" in (err := capfd.readouterr().err) and "exit code 7" in err


def test_restarts(program, tmp_path):
    """All processes restart, at most `--max-restarts` times."""
    path = program("if os.environ['TORCHELASTIC_RESTART_COUNT'] != '2': os.abort()")
    run.main(["--nproc-per-node", "2", "--max-restarts", "2", path])
    assert lines(tmp_path).keys() >= {"0.2", "1.2"}
    with pytest.raises(launcher.ChildFailedError, match="signal SIGABRT") as error:
        run.run(run.parse_args(["--max-restarts", "1", path]))
    assert error.value.exitcode < 0 and error.value.rank == 0


def test_output_in_files(program, tmp_path):
    """Output files are grouped by run, attempt and rank."""
    path = program("print('out', flush=True); print('err', file=sys.stderr)")
    logs = tmp_path / "logs"
    run.main(["--rdzv-id", "first", "--log-dir", str(logs), "-r", "3", path])
    found = logs / "first" / "attempt_0" / "0"
    assert (found / "stdout.log").read_text() == "out\n" and (found / "stderr.log").read_text() == "err\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--nproc-per-node", "many"], "Unsupported nproc_per_node value: many"),
        (["--nproc-per-node", "0"], "expected at least 1"),
        (["--nnodes", "1:2"], "an elastic number of machines is unsupported"),
        (["--nnodes", "2", "--standalone"], "several machines need --master-addr"),
        (["--nnodes", "2", "--node-rank", "2"], "expected 0 to 1"),
        (["-m", "--no-python"], "Don't use both"),
    ],
)
def test_conflicting_options(words, message, capsys):
    """Conflicting options give a one-line error and exit code 2."""
    with pytest.raises(SystemExit) as error:
        run.main([*words, "program.py"])
    assert error.value.code == 2 and message in capsys.readouterr().err


def test_a_signal_ends_the_processes(program, tmp_path):
    """SIGTERM is forwarded to the processes; the exit code is 128 + 15."""
    path = program("import time; os.write(1, b'%d\\n' % os.getpid()); time.sleep(600)")
    command = [sys.executable, "-m", "ts.distributed.run", "--nproc-per-node", "2", path]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        children = [int(process.stdout.readline()) for _ in range(2)]
        process.terminate()
        assert process.wait(60) == 128 + 15
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)


PROGRAM = """
import os
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
assert dist.is_torchelastic_launched() and torch.__name__
x = torch.ones(2) * (dist.get_rank() + 1)
dist.all_reduce(x)
assert x.tolist() == [3, 3]
dist.destroy_process_group()
"""


@pytest.mark.parametrize("words", [["torch.distributed.run"], ["torch.distributed.launch", "--use-env"]])
def test_programs_that_import_torch(tmp_path, words):
    """Launched processes import `ts` as torch if the launcher does, and form a process group."""
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "ts.as_torch", "-m", *words, "--standalone", "--nproc_per_node=2"]
    subprocess.run([*command, "program.py"], check=True, cwd=tmp_path)


def test_launch_passes_the_local_rank(program, tmp_path):
    """`launch` passes `--local-rank`, as PyTorch's older launcher does."""
    from ts.distributed import launch

    launch.main(["--nproc_per_node", "2", program(), "a"])
    assert [line.split()[-2:] for _, line in sorted(lines(tmp_path).items())] == [
        ["--local-rank=0", "a"],
        ["--local-rank=1", "a"],
    ]


def test_command_line(program, tmp_path):
    """`ts launch` runs the launcher."""
    assert main(["launch", "--nproc-per-node", "cpu", program(), "--help"]) == 0
    assert len(lines(tmp_path)) == os.cpu_count()
