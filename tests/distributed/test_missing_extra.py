"""`ts.distributed.rpc` without dask.distributed: it can be imported, and its functions raise an error that
names the extra."""

import subprocess
import sys

PROGRAM = """
import ts
from ts.distributed import missing_extra

missing_extra.has_rpc_extra = lambda: False  # as if it were not installed
ts.install_as_torch()
import torch.distributed
import torch.distributed.rpc as rpc
from torch.distributed.rpc import RRef, WorkerInfo, rpc_async, remote

assert not rpc.is_available() and not isinstance(3, RRef) and rpc.RRef is RRef

def function(x: RRef[int]) -> RRef: ...
class Own(RRef): ...

for call in (lambda: rpc_async("worker1", abs), lambda: rpc.init_rpc("worker0"), lambda: RRef(1), Own):
    try:
        call()
    except ImportError as error:
        print(error)
@rpc.api._require_initialized
def checked(): ...
try:
    checked()
except RuntimeError as error:
    print(error)
try:
    rpc.no_such_name
except AttributeError:
    print("no such name")
"""
EXPECTED = [
    *(
        f"{name} needs dask.distributed: pip install 'torchscript-ts[rpc]'"
        for name in (
            "torch.distributed.rpc.rpc_async", "torch.distributed.rpc.init_rpc", "torch.distributed.rpc.RRef",
            "__main__.Own",
        )
    ),
    "RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.",
    "no such name",
]  # fmt: skip


def test_names_import_and_reject_when_called():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == EXPECTED
