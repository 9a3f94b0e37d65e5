"""Process groups, `DistributedDataParallel` and the launcher in environments without dask."""

import os
import socket
import subprocess
import sys

import pytest

from tests.distributed.process_groups import free_port
from ts.distributed import shared_secret

# `sitecustomize` module that makes dask and its dependencies unimportable.
BLOCK = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("distributed", "dask", "msgpack", "tornado"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
"""

GROUP = """
import os
import torch
import torch.distributed as dist

assert dist.is_available() and dist.is_gloo_available() and dist.is_backend_available("gloo")
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
x = torch.full((1000,), float(rank + 1))
dist.all_reduce(x)
assert x.unique().tolist() == [sum(range(1, size + 1))]
parts = [torch.empty(2) for _ in range(size)]
dist.all_gather(parts, torch.full((2,), float(rank)))
assert torch.stack(parts)[:, 0].tolist() == list(range(size))
found = [None] * size
value = {"rank": rank, "names": ("a", [1.5, None, b"b" * 10_000]), "x": torch.ones(3) * rank}
dist.all_gather_object(found, value)
assert [each["rank"] for each in found] == list(range(size)) and found[1]["x"].tolist() == [1, 1, 1]
if rank == 0:
    dist.send(torch.arange(5.0), 1)
elif rank == 1:
    dist.recv(x := torch.empty(5), 0)
    assert x.tolist() == [0, 1, 2, 3, 4]
group = dist.new_group([0, 1])
if rank < 2:
    dist.broadcast(y := torch.full((3,), float(rank)), 1, group=group)
    assert y.tolist() == [1, 1, 1]
dist.barrier()

torch.manual_seed(rank)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(100 + rank)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()
weights = [torch.empty(2, 4) for _ in range(size)]
dist.all_gather(weights, model.module.weight.detach())
assert all(torch.equal(weights[0], each) for each in weights)
dist.destroy_process_group()
os.write(1, f"done {rank}\\n".encode())
"""


@pytest.fixture
def environment(tmp_path):
    """Environment of processes in which dask cannot be imported."""
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "sitecustomize.py").write_text(BLOCK)
    paths = [str(tmp_path / "blocked"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def run(command, environment, tmp_path, code=0):
    """Run a program and return its output."""
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=300, env=environment, cwd=tmp_path
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


LAUNCHERS = [
    ["-m", "ts.as_torch", "-m", "torch.distributed.run", "--standalone"],
    ["-m", "ts.as_torch", "-m", "ts", "launch", "--standalone"],
]


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=["run", "launch"])
def test_launched_groups(environment, tmp_path, launcher):
    """Collectives, objects, messages and data-parallel training work in launched processes."""
    (tmp_path / "program.py").write_text(GROUP)
    output = run([*launcher, "--nproc_per_node=3", "program.py"], environment, tmp_path)
    assert sorted(output.split("\n")) == ["", "done 0", "done 1", "done 2"]


def test_processes_with_and_without_dask_form_one_group(environment, tmp_path):
    """Processes with and without dask use the same protocol."""
    (tmp_path / "program.py").write_text(GROUP)
    environments = [environment, dict(os.environ), environment]
    common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "3"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "ts.as_torch", "program.py"],
            env=each | common | {"RANK": str(rank)}, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for rank, each in enumerate(environments)
    ]  # fmt: skip
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert outputs == [f"done {rank}\n" for rank in range(3)]


REJECTION_ERRORS = """
import ts
import ts.distributed as dist
import ts.distributed.transport
from ts.distributed import rpc

assert not rpc.is_available()
for name in ("Comm", "Security"):
    try:
        getattr(ts.distributed.transport, name)
    except ImportError as error:
        print(error)
for call in (lambda: dist.LocalCluster(), lambda: dist.on_dask(None)):
    try:
        call()
    except ImportError as error:
        print(error)
try:
    rpc.init_rpc("worker0")
except ImportError as error:
    print(error)
"""


def test_missing_dask_error_names_the_extra(environment, tmp_path):
    lines = run(["-c", REJECTION_ERRORS], environment, tmp_path).splitlines()
    assert len(lines) == 5
    for line in lines:
        assert line.endswith("needs dask.distributed: pip install 'torchscript-ts[rpc]'"), line


WRONG_SECRET = """
import datetime, os
import ts.distributed as dist
try:
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=6 - 4 * int(os.environ["RANK"])))
except dist.DistStoreError as error:
    print(error)
"""


def test_a_process_with_another_secret_is_rejected(environment, tmp_path):
    """A peer with another secret is rejected, and both ends name the rendezvous address."""
    common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRONG_SECRET], stdout=subprocess.PIPE, text=True, cwd=tmp_path,
            env=environment | common | {"RANK": str(rank), "TS_RPC_SECRET": "s" * 20 + str(rank)},
        )
        for rank in range(2)
    ]  # fmt: skip
    first, second = [process.communicate(timeout=300)[0] for process in processes]
    assert "timeout of join: not all processes arrived" in first
    assert "the other end does not know the secret" in second and common["MASTER_PORT"] in second


def test_an_occupied_port_is_named(environment, tmp_path, monkeypatch):
    """An occupied port is named in the error, and the secret file of its process is unchanged."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("TS_RPC_SECRET", raising=False)
    environment["TMPDIR"] = str(tmp_path)
    environment.pop("TS_RPC_SECRET", None)
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        port = str(sock.getsockname()[1])
        shared_secret.publish_secret(int(port), b"s" * 32)
        common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "RANK": "0"}
        output = run(["-c", WRONG_SECRET], environment | common, tmp_path)
    assert "Address already in use" in output and f"127.0.0.1:{port}" in output
    assert shared_secret.shared("127.0.0.1", int(port)) == b"s" * 32
