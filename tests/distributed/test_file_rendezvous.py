"""Rendezvous by a file."""

import subprocess
import sys

import pytest

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
from ts.distributed import file_rendezvous
from ts.distributed.rendezvous import Rendezvous, RendezvousError, parse_init_method

RPC = """
import sys, ts
from ts.distributed import rpc
where, rank = sys.argv[1], int(sys.argv[2])
options = rpc.TensorPipeRpcBackendOptions(init_method=where)
rpc.init_rpc(f"w{rank}", rank=rank, world_size=2, rpc_backend_options=options)
print(rpc.rpc_sync(f"w{1 - rank}", ts.add, args=(ts.tensor(rank), 1)).item())
rpc.shutdown()
"""
GROUP = """
import sys, ts
import ts.distributed as dist
where, rank = sys.argv[1], int(sys.argv[2])
dist.init_process_group("gloo", init_method=where, rank=rank, world_size=2)
x = ts.tensor(rank + 1)
dist.all_reduce(x)
print(x.item() - rank)
dist.destroy_process_group()
"""


@pytest.mark.parametrize("left", [None, "", "127.0.0.1:1\n", "something else"])
@pytest.mark.parametrize(
    ("program", "printed"), [(RPC, ["1", "2"]), (GROUP, ["3", "2"])], ids=["rpc", "group"]
)
def test_two_processes(program, printed, left, tmp_path):
    """A rendezvous file with old contents is replaced, and removed after the rendezvous."""
    path = tmp_path / "a place"
    if left is not None:
        path.write_text(left)
    where = f"file://{path}"
    started = [
        subprocess.Popen([sys.executable, "-c", program, where, str(rank)], stdout=subprocess.PIPE, text=True)
        for rank in (1, 0)
    ]
    try:
        outputs = [each.communicate(timeout=60)[0].strip() for each in started]
    finally:
        for each in started:
            each.kill()
    assert outputs[::-1] == printed
    assert not list(tmp_path.iterdir())


def test_missing_parameters(tmp_path):
    with pytest.raises(ValueError, match="file:// rendezvous: rank parameter missing"):
        parse_init_method("file:///tmp/x")
    with pytest.raises(ValueError, match="file:// rendezvous: path missing"):
        parse_init_method("file://", 0, 1)
    assert parse_init_method("file:///tmp/a%20b?rank=1&world_size=2").file == "/tmp/a b"
    with pytest.raises(FileNotFoundError):
        Rendezvous(parse_init_method(f"file://{tmp_path}/none/x", 0, 1), "w0", "nowhere")
    with pytest.raises(
        RendezvousError, match=r"cannot connect to rank 0 at .*: it has not yet written its address to"
    ):
        Rendezvous(parse_init_method(f"file://{tmp_path}/x", 1, 2), "w1", "nowhere", timeout=0.2)


def test_rendezvous_files_accept_local_addresses_only(tmp_path):
    """A rendezvous file is accepted only with a local address."""
    path = str(tmp_path / "x")
    file_rendezvous.publish_address(path, ("10.0.0.1", 5))
    assert file_rendezvous.read_address(path) is None
    file_rendezvous.publish_address(path, (file_rendezvous.LOCAL, 5))
    assert file_rendezvous.read_address(path) == (file_rendezvous.LOCAL, 5)
    file_rendezvous.withdraw(path, (file_rendezvous.LOCAL, 6))  # the address of another program
    assert file_rendezvous.read_address(path) is not None
