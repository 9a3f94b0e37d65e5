"""A process that has everything loaded, and forks children that do the work.

    python -m ts.serve.fork_server FD '{"kind": "program"}'
    python -m ts.serve.fork_server FD '{"kind": "model", "path": "model.pt", "method": "forward", ...}'

FD is one end of a pair of sockets.  It says on it what it has loaded, or why not; then for every socket
that it is sent, it forks a child with that one.  It runs nothing of strangers itself, so that it has no
threads and nothing to lose: a child is there in a few milliseconds, shares the memory of what is loaded, and
may end as it likes.
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

Work = Callable[[socket.socket], None]
_SLACK: Final = 256 << 20  # bytes of address space for Python itself, beside what a program may take
_GRACE: Final = 0.5  # seconds beside those that a program or a request has
_STARVED: Final = 3  # times as long as that on the clock, where others have the processors


def main(words: list[str]) -> None:
    """Load, and fork until nobody asks any more."""
    control = socket.socket(fileno=int(words[0]))
    settings = json.loads(words[1])
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is for whoever started this; it ends it by closing FD
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for children
    try:
        work, loaded = _KINDS[settings["kind"]](settings)
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
            _fork(descriptor, control, work)


def _fork(descriptor: int, control: socket.socket, work: Work) -> None:
    try:
        child = os.fork()
    except OSError:  # too many processes: whoever waits at the other end sees that nobody is there
        os.close(descriptor)
        return
    if child:
        os.close(descriptor)
        return
    code = 1
    try:
        control.close()
        with socket.socket(fileno=descriptor) as end:
            work(end)
        code = 0
    finally:
        os._exit(code)  # whatever happened: a child never comes back to the loop above


def confine(bytes: int) -> None:
    """What a child may take of the machine, whatever `ts.limits` say.  Files are not among it."""
    import resource

    used = _address_space()
    limits = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": 0, "RLIMIT_NOFILE": 64}
    if used:
        limits["RLIMIT_AS"] = used + bytes + _SLACK
    for name, limit in limits.items():
        kind = getattr(resource, name, None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            most = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (most, most))


def _address_space() -> int:
    """Bytes of this process's addresses; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def end_after(seconds: float) -> None:
    """End this process by the system, which nothing that runs in it can stop, when it has worked for so long.

    0: no longer.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds + _GRACE if seconds else 0)


def end_at_last(seconds: float) -> None:
    """The same by the clock, so that nothing waits for ever."""
    signal.setitimer(signal.ITIMER_REAL, _STARVED * (seconds + _GRACE))


def leave_to_others(nice: int) -> None:
    """Let the system run others first; what has been left once is not taken back."""
    now = os.getpriority(os.PRIO_PROCESS, 0)
    if nice > now:
        os.setpriority(os.PRIO_PROCESS, 0, nice)


def _new_seed() -> None:
    """Children would draw the same random numbers."""
    import ts

    ts.manual_seed(int.from_bytes(os.urandom(7), "big"))


# ---- programs ----------------------------------------------------------------------------------------

# What loads most of what programs need, so that their processes have it.
_WARM: Final = """
def numbers(n: int) -> Dict[str, List[int]]:
    found: Dict[str, List[int]] = {}
    for i in range(n):
        if i % 2 == 0:
            found[f"{i}"] = [i, n // 2]
    return found

def tensors(x: Tensor, n: int) -> Tuple[float, Tensor]:
    for i in range(n):
        x = torch.nn.functional.gelu(x @ x.t()) * i + x[0:1, :].exp()
    y = torch.cat([x.softmax(1), torch.randn(2, x.size(1))])
    return float(y.sum()), y.sort()[0].mean(0)
"""
_WARM_CALLS: Final = ("numbers(4)", "tensors(torch.rand(3, 3), 2)")


def _programs(settings: dict[str, Any]) -> tuple[Work, dict[str, Any]]:
    import ts
    from ts.serve.model_worker import again
    from ts.serve.sandboxed_program import report

    size = int(settings["bytes"])
    ts.set_num_threads(1)  # threads do not live in forks; and many programs share the machine
    for call in _WARM_CALLS:
        found = report(_WARM, call, seconds=60.0, bytes=1 << 30)
        if found["error"]:
            raise RuntimeError(found["error"]["message"])

    def work(end: socket.socket) -> None:
        confine(size)
        asked = receive(end)
        if asked is None:
            return
        head, (body,) = asked
        end_after(head["seconds"])
        end_at_last(head["seconds"])
        leave_to_others(head["nice"])
        _new_seed()
        start = time.process_time()
        program = json.loads(body)
        found = report(program["source"], program["call"], seconds=head["seconds"], bytes=size)
        used = time.process_time() - start
        is_late = found["error"] and found["error"]["kind"] == "TimeExceeded"
        answer, text = (again(head, used) if is_late else None), b""
        if answer is None:
            answer, text = {"status": 200, "type": "application/json"}, json.dumps(found).encode()
        end.sendall(pack({"answers": [answer], "seconds": used, "leaves": True}, [text]))

    return work, {}


# ---- models ------------------------------------------------------------------------------------------


def _import(name: str) -> None:
    """Import a module, or a file of Python under its name, that registers custom operators."""
    if not name.endswith(".py"):
        sys.path.append(os.getcwd())
        importlib.import_module(name)
        return
    stem = os.path.basename(name).removesuffix(".py")
    spec = importlib.util.spec_from_file_location(stem, name)
    if spec is None or spec.loader is None:
        raise ImportError(f"{name} is no module of Python")
    module = sys.modules[stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def _models(settings: dict[str, Any]) -> tuple[Work, dict[str, Any]]:
    import ts
    from ts.serve.model_worker import Model

    ts.set_num_threads(int(settings["threads"]))
    for name in settings["imports"]:
        _import(name)
    model = Model.load(
        settings["path"],
        settings["method"],
        seconds=settings["seconds"],
        bytes=settings["bytes"],
        answer=settings["answer"],
    )
    ts.softmax(ts.relu(ts.ones(1, 2) @ ts.ones(2, 1)), 1).sum()  # loads the kernels

    def work(end: socket.socket) -> None:
        confine(model.bytes)
        _new_seed()
        while (asked := receive(end)) is not None:
            head, bodies = asked
            leave_to_others(head["nice"])
            end_at_last(head["seconds"] * len(bodies))
            start = time.process_time()
            answers, parts = model.answer(head, bodies, end_after)
            leaves = model.has_grown()
            used = time.process_time() - start
            signal.setitimer(signal.ITIMER_REAL, 0)
            end.sendall(pack({"answers": answers, "seconds": used, "leaves": leaves}, parts))
            if leaves:
                return

    return work, model.description()


_KINDS: Final[dict[str, Callable[[dict[str, Any]], tuple[Work, dict[str, Any]]]]] = {
    "program": _programs,
    "model": _models,
}

if __name__ == "__main__":
    main(sys.argv[1:])
