"""Fork server (forkserver, pre-fork), which loads model or compiler once and forks copy-on-write workers.

The first command loads the compiler, the second command a model. FD is one end of a socket pair:

    python -m ts.serve.fork_server FD '{"kind": "program"}'
    python -m ts.serve.fork_server FD '{"kind": "model", "path": "model.pt", "method": "forward", ...}'

The server first sends a description of the loaded model, or an error. It then receives sockets, and forks a
worker for each socket. Forking is safe, because the server executes no untrusted input and has no threads.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from ts.serve.ipc_protocol import pack, receive

WorkerMain = Callable[[socket.socket], None]
# address space for Python itself, in addition to the memory limit of the program
_ADDRESS_SPACE_HEADROOM_BYTES: Final = 256 << 20
# The kernel kills a worker process that still runs this many seconds after the time limit of its request.
_KILL_GRACE_SECONDS: Final = 0.5
_WALL_CLOCK_FACTOR: Final = 3  # limit of elapsed time divided by the limit of processor time


def main(arguments: list[str]) -> None:
    """Load the model or the compiler, then fork workers until the control socket is closed."""
    control = socket.socket(fileno=int(arguments[0]))
    settings = json.loads(arguments[1])
    # Ctrl-C is ignored here. The parent process handles it and closes its end of the control socket, which
    # ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps exited workers
    try:
        worker_main, loaded = _LOADERS[settings["kind"]](settings)
    except Exception as error:
        control.sendall(pack({"error": f"{type(error).__name__}: {error}"}))
        return
    os.chdir("/")
    gc.collect()
    gc.freeze()
    control.sendall(pack({"loaded": loaded}))
    while True:
        message, descriptors, *_ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        for descriptor in descriptors:
            _fork(descriptor, control, worker_main)


def _fork(descriptor: int, control: socket.socket, worker_main: WorkerMain) -> None:
    try:
        child = os.fork()
    # The system allows no further process. The closed socket tells the HTTP process that the fork failed.
    except OSError:
        os.close(descriptor)
        return
    if child:
        os.close(descriptor)
        return
    code = 1
    try:
        control.close()
        with socket.socket(fileno=descriptor) as end:
            worker_main(end)
        code = 0
    finally:
        os._exit(code)  # a worker must never return to the loop of `main`


def apply_rlimits(bytes: int) -> None:
    """Set the rlimits of this process (resource limits: address space limit, no core dumps, no file writes).

    These limits apply even if `ts.limits` fails to enforce its own.
    """
    import resource

    used = _address_space_bytes()
    limits = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": 0, "RLIMIT_NOFILE": 64}
    if used:
        limits["RLIMIT_AS"] = used + bytes + _ADDRESS_SPACE_HEADROOM_BYTES
    for name, limit in limits.items():
        kind = getattr(resource, name, None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (limit, limit))


def _address_space_bytes() -> int:
    """Return the size of this process's address space, or 0 on systems without /proc."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def set_cpu_time_limit(seconds: float) -> None:
    """Set a watchdog timer: the kernel kills this process after `seconds` of CPU time plus a grace period.

    If `seconds` is 0, there is no limit.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds + _KILL_GRACE_SECONDS if seconds else 0)


def set_wall_clock_limit(seconds: float) -> None:
    """Set a timer that kills this process after 3 * (`seconds` + grace period) of elapsed time.

    `seconds` is the limit of processor time.
    """
    signal.setitimer(signal.ITIMER_REAL, _WALL_CLOCK_FACTOR * (seconds + _KILL_GRACE_SECONDS))


def lower_priority(nice: int) -> None:
    """Lower the process priority by raising the nice level to `nice`.

    If the nice level is already higher, it is kept, because only root may lower it.
    """
    current = os.getpriority(os.PRIO_PROCESS, 0)
    if nice > current:
        os.setpriority(os.PRIO_PROCESS, 0, nice)


def _reseed() -> None:
    """Seed the random number generator. Otherwise, all forked workers would have the same state."""
    import ts

    ts.manual_seed(int.from_bytes(os.urandom(7), "big"))


# Programs that are run once before the first fork, so that workers inherit most of the modules and kernels
# that programs need.
_WARMUP_SOURCE: Final = """
def numbers(n: int) -> Dict[str, List[int]]:
    lists: Dict[str, List[int]] = {}
    for i in range(n):
        if i % 2 == 0:
            lists[f"{i}"] = [i, n // 2]
    return lists

def tensors(x: Tensor, n: int) -> Tuple[float, Tensor]:
    for i in range(n):
        x = torch.nn.functional.gelu(x @ x.t()) * i + x[0:1, :].exp()
    y = torch.cat([x.softmax(1), torch.randn(2, x.size(1))])
    return float(y.sum()), y.sort()[0].mean(0)
"""
_WARMUP_CALLS: Final = ("numbers(4)", "tensors(torch.rand(3, 3), 2)")


def _load_programs(settings: dict[str, Any]) -> tuple[WorkerMain, dict[str, Any]]:
    """Load the compiler and run warm-up programs.

    Return the function that a worker runs for a program, and a description.
    """
    import ts
    from ts.serve.model_worker import retry_result
    from ts.serve.sandboxed_program import report

    size = int(settings["bytes"])
    ts.set_num_threads(1)  # threads do not survive a fork, and many programs share the machine
    for call in _WARMUP_CALLS:
        warmup = report(_WARMUP_SOURCE, call, seconds=60.0, bytes=1 << 30)
        if warmup["error"]:
            raise RuntimeError(warmup["error"]["message"])

    def run_program(end: socket.socket) -> None:
        apply_rlimits(size)
        message = receive(end)
        if message is None:
            return
        header, (body,) = message
        set_cpu_time_limit(header["seconds"])
        set_wall_clock_limit(header["seconds"])
        lower_priority(header["nice"])
        _reseed()
        start = time.process_time()
        program = json.loads(body)
        outcome = report(program["source"], program["call"], seconds=header["seconds"], bytes=size)
        used = time.process_time() - start
        is_late = outcome["error"] and outcome["error"]["kind"] == "TimeExceeded"
        result, content = (retry_result(header, used) if is_late else None), b""
        if result is None:
            result, content = {"status": 200, "type": "application/json"}, json.dumps(outcome).encode()
        end.sendall(pack({"results": [result], "seconds": used, "exits": True}, [content]))

    return run_program, {}


def _import_operators(name: str) -> None:
    """Import a module or execute a Python file that registers custom operators.

    Raises ImportError if `name` is a file that is not a Python module.
    """
    if not name.endswith(".py"):
        sys.path.append(os.getcwd())
        importlib.import_module(name)
        return
    stem = os.path.basename(name).removesuffix(".py")
    spec = importlib.util.spec_from_file_location(stem, name)
    if spec is None or spec.loader is None:
        raise ImportError(f"{name} is not a Python module")
    module = sys.modules[stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def _load_model(settings: dict[str, Any]) -> tuple[WorkerMain, dict[str, Any]]:
    """Load an archive. Return the function that a worker runs, and the description of the model."""
    import ts
    from ts.serve.model_worker import ServedModel

    ts.set_num_threads(int(settings["threads"]))
    for name in settings["imports"]:
        _import_operators(name)
    model = ServedModel.load(
        settings["path"],
        settings["method"],
        seconds=settings["seconds"],
        bytes=settings["bytes"],
        answer=settings["answer"],
    )
    # these operators load the kernels that most models need
    ts.softmax(ts.relu(ts.ones(1, 2) @ ts.ones(2, 1)), 1).sum()

    def run_batches(end: socket.socket) -> None:
        apply_rlimits(model.max_memory_bytes)
        _reseed()
        while (message := receive(end)) is not None:
            header, bodies = message
            lower_priority(header["nice"])
            set_wall_clock_limit(header["seconds"] * len(bodies))
            start = time.process_time()
            results, buffers = model.run_batch(header, bodies, set_cpu_time_limit)
            exits = model.exceeds_memory_growth()
            used = time.process_time() - start
            signal.setitimer(signal.ITIMER_REAL, 0)
            end.sendall(pack({"results": results, "seconds": used, "exits": exits}, buffers))
            if exits:
                return

    return run_batches, model.description()


_LOADERS: Final[dict[str, Callable[[dict[str, Any]], tuple[WorkerMain, dict[str, Any]]]]] = {
    "program": _load_programs,
    "model": _load_model,
}

if __name__ == "__main__":
    main(sys.argv[1:])
