"""RPC worker for tests: `python -m tests.distributed.rpc_worker PORT RANK WORLD_SIZE [limited | narrow]`.

The module also defines the Python functions that other processes call.
"""

import gc
import os
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psutil

import ts
from ts.distributed import rpc
from ts.distributed.rpc.api import current


def start(port, rank, world_size, *more):
    """Start another process of a process group at a rendezvous port."""
    numbers = map(str, (port, rank, world_size))
    return subprocess.Popen([sys.executable, "-m", "tests.distributed.rpc_worker", *numbers, *more])


def eventually(check):
    """Return True if a check succeeds within four seconds, collecting garbage between attempts."""
    for _ in range(200):
        gc.collect()
        if check():
            return True
        time.sleep(0.02)
    return False


def options(port, **more):
    given = {"init_method": f"tcp://127.0.0.1:{port}", "allow_python": True} | more
    return rpc.TensorPipeRpcBackendOptions(**given)


def add(a, b):
    return a + b


def fail(number):
    raise ValueError(f"bad {number}")


def fail_in_its_own_way():
    class Own(Exception):
        pass

    raise Own("mine")


class Scaled(ts.nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = 3

    def forward(self, x: int) -> int:
        return self.factor * x

    @ts.jit.export
    def plus(self, x: int) -> int:
        return self.factor + x

    @ts.jit.ignore
    def stays(self) -> int:
        return 1


class Silent(Exception):
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


def fail_oddly(how):
    """Raise an unusual exception: one that ends a program, has no message, is a group, or has a message that
    cannot be sent."""
    errors = {
        "exit": SystemExit(3),
        "interrupt": KeyboardInterrupt(),
        "silent": Silent(),
        "group": ExceptionGroup("some", [ValueError("one")]),
        "surrogate": ValueError("\ud800"),
    }
    raise errors[how]


def sleep(seconds, result=None):
    time.sleep(seconds)
    return result


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def leave():
    """Shut down without waiting for other processes."""
    rpc.shutdown(graceful=False)


def identity(x):
    return x


def shares_memory(x, y):
    x[0] = 7
    return y[0].item()


def of(ref):
    return ref.is_owner(), ref.owner_name(), ref.to_here()


def boom_of(ref):
    ref.rpc_sync().boom()


def hold_reference(ref):
    """Hold a reference after the call."""
    KEPT.append(ref)


def release_references():
    KEPT.clear()


KEPT = []


def many(count):
    return [ts.ones(2000) for _ in range(count)]


def limit_memory(more):
    """Limit the memory of this process to `more` additional bytes, or remove the limit."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit_bytes = hard if more is None else psutil.Process().memory_info().vms + more
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, hard))


def owned():
    """Return the number of values of this process with remote references."""
    return len(current().rrefs)


def call_on(to, x):
    return rpc.rpc_sync(to, add, args=(x, 1))


def gather(value, names=None, timeout=20):
    return rpc.api._all_gather(value, names, timeout)


def figures():
    return rpc._get_debug_info()


def half_square(weight):
    return (weight * weight).sum() / 2


def callbacks(to):
    """Run a callback that itself waits for a call."""
    following = rpc.rpc_async(to, add, args=(1, 2)).then(lambda f: rpc.rpc_sync(to, add, args=(f.wait(), 10)))
    return following.wait()


def in_threads(to, count):
    with ThreadPoolExecutor(4) as pool:
        return sum(pool.map(lambda k: rpc.rpc_sync(to, add, args=(k, 0)), range(count)))


class Counter:
    def __init__(self, n=0):
        self.n = n

    def add(self, k):
        self.n += k
        return self.n

    def sleep(self, seconds):
        time.sleep(seconds)

    def boom(self):
        raise KeyError("x")

    @classmethod
    def name_of_class(cls):
        return cls.__name__


class OtherCounter(Counter):
    pass


@rpc.functions.async_execution
def later(to, x):
    return rpc.rpc_async(to, add, args=(x, 1)).then(lambda f: f.wait() * 10)


@rpc.functions.async_execution
def no_future(x):
    return x


if __name__ == "__main__":
    port, rank, world_size = map(int, sys.argv[1:4])
    limited = {
        "allow_python": False,
        "limits": ts.limits(fuel=100_000),
        "allowed_ops": [f"aten::{name}" for name in ("add", "mul", "gt", "ge", "remainder", "requires_grad_")],
    }
    more = {"limited": limited, "narrow": {"num_worker_threads": 1}}
    limits = more[sys.argv[4]] if sys.argv[4:] else {}
    rpc.init_rpc(
        f"worker{rank}", rank=rank, world_size=world_size, rpc_backend_options=options(port, **limits)
    )
    rpc.shutdown()
