"""Scheduler of a cluster (service registry), dask's `Scheduler` restricted to a directory of processes.

A process sends requests (left) and receives answers (right):

    {"op": "join", "name", "address", "kind", "number", "pid"}    {"status": "OK", "number", "name", "shows"}
    {"op": "find", "who": name or number}                         [number, name, address], or None
    {"op": "members"}                                             attributes of each process

"number" is the worker id. Ids are never reused: a restarted process gets a new id. "shows" is True if a
dashboard displays calls.

After "join", the connection stays open. The process sends heartbeats (left). The scheduler may send messages
about lost workers and the end of the cluster (right):

    {"op": "beat", "running", "done", "failed", "memory",         {"op": "remove-worker", "worker": address}
     "calls": [[name, address, start, end, failed]]}              {"op": "close", "reason"}

Security: all other handlers of dask's scheduler are disabled, because some load pickles from messages.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from distributed import Scheduler
from distributed.comm.addressing import parse_address, parse_host_port
from distributed.core import Status
from distributed.diagnostics.task_stream import TaskStreamPlugin

from ts.distributed.transport import Comm, Security, TransportLimits

# limits of messages to the scheduler
LIMITS: Final = TransportLimits(bytes=1 << 20, frames=16, header_bytes=1 << 20)
KINDS: Final = ("worker", "program")
_NAME: Final = re.compile(r"[A-Za-z0-9_:-]{1,127}")
_WORKER_ID_LIMIT: Final = 1 << 31  # worker ids that the scheduler assigns are smaller than this
# Time after a restart of the scheduler in which only workers that already have an id may register. A worker
# that registers in this time keeps its id.
_RECONNECT_WAIT_SECONDS: Final = 1.0
# maximal time to wait until the old registration of a process that rejoins is removed
_REPLACE_TIMEOUT_SECONDS: Final = 5.0
# Metrics that dask's scheduler requires of a worker. They are constant, because no dask worker runs.
_NOTHING: Final[dict[str, Any]] = {
    "bandwidth": {"total": 1, "workers": {}, "types": {}}, "digests_total_since_heartbeat": {},
    "spilled_bytes": {"memory": 0, "disk": 0}, "task_counts": {}, "managed_bytes": 0, "transfer": {},
    "event_loop_interval": 0.02, "cpu": 0.0, "time": 0.0, "host_net_io": {}, "host_disk_io": {}, "num_fds": 0,
}  # fmt: skip


@dataclass
class RegisteredWorker:
    """Record of a registered process, with the counters of its latest heartbeat."""

    number: int
    name: str
    address: str
    kind: str
    pid: int
    since: float
    running: int = 0
    done: int = 0
    failed: int = 0
    memory: int = 0


class JoinRejectedError(ValueError):
    """Raised if the scheduler rejects a process that tries to join."""


class NameService(Scheduler):
    """Scheduler that registers processes and answers queries, with the messages in the module docstring."""

    def __init__(
        self,
        host: str,
        port: int,
        security: Security,
        names: Sequence[str] = (),
        dashboard: int | None = None,
    ) -> None:
        """Initialize a scheduler.

        names        names of the workers with the ids 0, 1, ...
        dashboard    port of dask's web pages, or None
        port         0 means any free port. With another port, new workers may join only after one second.
                     Before, workers of an earlier scheduler can rejoin
        """
        self._entries: dict[int, RegisteredWorker] = {}
        self._first = {name: worker_id for worker_id, name in enumerate(names)}
        self._next = len(names)
        self._accept_new_after = time.monotonic() + (_RECONNECT_WAIT_SECONDS if port else 0)
        self._has_dashboard = dashboard is not None
        self._dashboard_ids = itertools.count()
        self._scheme = security.scheme("scheduler")
        super().__init__(
            host=f"[{host}]" if ":" in host else host,
            port=port,
            protocol=self._scheme,
            security=security,
            dashboard=self._has_dashboard,
            dashboard_address=f"{host}:{dashboard or 0}",
            extensions={},
        )
        self.handlers = {"join": self.join, "find": self.find, "members": self.members}
        self.stream_handlers = {"beat": self.record_heartbeat}
        if self._has_dashboard:
            self.add_plugin(TaskStreamPlugin(self))

    def start_http_server(self, *arguments: Any, **more: Any) -> None:
        """Start dask's HTTP server only if the dashboard is enabled."""
        if self._has_dashboard:
            super().start_http_server(*arguments, **more)

    async def join(
        self,
        comm: Comm,
        name: Any = "",
        address: Any = "",
        kind: Any = "worker",
        number: Any = None,
        pid: Any = 0,
    ) -> Any:
        """Register a process for the lifetime of its connection.

        A process that rejoins passes its previous worker id as `number`.
        """
        try:
            self._check(name, address, kind, number, pid)
            if number is None:
                await asyncio.sleep(self._accept_new_after - time.monotonic())
            await self._remove_stale_entry(name, address, number)
            entry = self._add_entry(name, address, kind, number, pid)
        except JoinRejectedError as error:
            return {"status": "error", "message": str(error)}
        try:
            response = {"number": entry.number, "name": entry.name, "shows": self._has_dashboard}
            await comm.write({"status": "OK", **response})
            await self.add_worker(comm, **_as_worker(entry))
        finally:
            self._remove_entry(entry)
        return Status.dont_reply

    def find(self, who: Any = None) -> Any:
        """Return [id, name, address] of the process `who` (name or id), or None if it is unknown."""
        for entry in self._entries.values():
            if who in (entry.name, entry.number):
                return [entry.number, entry.name, entry.address]
        return None

    def members(self) -> Any:
        """Return the attributes of each registered process as a dictionary."""
        return [asdict(entry) for entry in self._entries.values()]

    def record_heartbeat(
        self, worker: str, running: int, done: int, failed: int, memory: int, calls: Any = ()
    ) -> None:
        """Record a heartbeat of the process at address `worker`: its counters and its finished calls."""
        for count in (running, done, failed, memory):
            if type(count) is not int:
                raise TypeError(f"invalid counter: {count!r:.100}")
        for entry in self._entries.values():
            if entry.address == worker:
                entry.running, entry.done, entry.failed, entry.memory = running, done, failed, memory
                self.heartbeat_worker(address=worker, resolve_address=False, metrics=_metrics(entry))
        if self._has_dashboard:
            self._show(calls)

    def _show(self, calls: Any) -> None:
        """Publish finished calls to dask's task stream, under their function names."""
        stream = self.plugins[TaskStreamPlugin.name]
        for call in calls:
            match call:
                case (str(name), str(address), float(start), float(end), bool(failed)):
                    took = {"action": "compute", "start": start, "stop": max(start, end)}
                    key = f"{name[:200]}-{next(self._dashboard_ids)}"
                    fields: dict[str, Any] = {"worker": address[:200], "thread": 0, "nbytes": 0}
                    fields |= {"startstops": [took], "status": "error" if failed else "OK"}
                    stream.transition(key, "processing", "erred" if failed else "memory", **fields)
                case _:
                    raise TypeError(f"invalid record of a call: {call!r:.100}")

    def _check(self, name: Any, address: Any, kind: Any, worker_id: Any, pid: Any) -> None:
        if not isinstance(name, str) or (name and not _NAME.fullmatch(name)):
            raise JoinRejectedError(f"invalid process name: {name!r:.200}")
        if kind not in KINDS or type(pid) is not int:
            raise JoinRejectedError(f"invalid process: kind {kind!r:.100}, pid {pid!r:.100}")
        if worker_id is not None and (type(worker_id) is not int or not 0 <= worker_id < _WORKER_ID_LIMIT):
            raise JoinRejectedError(f"invalid worker id: {worker_id!r:.100}")
        try:
            scheme, location = parse_address(address, strict=True)
            port = parse_host_port(location)[1]
        except (TypeError, ValueError, AttributeError):
            raise JoinRejectedError(f"invalid address: {address!r:.200}") from None
        if scheme != self._scheme or not 0 < port < 1 << 16 or len(address) > 300:
            raise JoinRejectedError(f"invalid address for this cluster: {address!r:.200}")

    async def _remove_stale_entry(self, name: str, address: str, worker_id: int | None) -> None:
        """End the old connection of a process that rejoins. Wait until its old registration is removed."""
        stale = self._entries.get(-1 if worker_id is None else worker_id)
        if stale is None or (stale.name, stale.address) != (name, address):
            return
        stream = self.stream_comms.get(address)
        if stream is not None:
            stream.abort()
        until = time.monotonic() + _REPLACE_TIMEOUT_SECONDS
        while stale.number in self._entries and time.monotonic() < until:
            await asyncio.sleep(0.01)

    def _add_entry(
        self, name: str, address: str, kind: str, worker_id: int | None, pid: int
    ) -> RegisteredWorker:
        names = {entry.name for entry in self._entries.values()}
        if name in names:
            raise JoinRejectedError(f"the name {name} is already used by another process")
        if worker_id in self._entries:
            raise JoinRejectedError(f"the worker id {worker_id} of {name} is now used by another process")
        if address in self.workers:
            raise JoinRejectedError(f"the address {address} is already used by another process")
        if worker_id is None:
            first = self._first.pop(name, self._next)
            worker_id = self._next if first in self._entries else first
        self._next = max(self._next, worker_id + 1)
        if not name:
            name = next(free for k in range(len(names) + 1) if (free := f"worker{k}") not in names)
        entry = self._entries[worker_id] = RegisteredWorker(worker_id, name, address, kind, pid, time.time())
        return entry

    def _remove_entry(self, entry: RegisteredWorker) -> None:
        if self._entries.get(entry.number) is entry:
            del self._entries[entry.number]

    async def remove_worker(self, address: str, **options: Any) -> Any:
        """Remove the registration of a process that has left, and notify all other processes."""
        for entry in [entry for entry in self._entries.values() if entry.address == address]:
            self._remove_entry(entry)
        return await super().remove_worker(address, **options)


def _metrics(entry: RegisteredWorker) -> dict[str, Any]:
    return {**_NOTHING, "memory": entry.memory}


def _as_worker(entry: RegisteredWorker) -> dict[str, Any]:
    """Return the attributes of a process in the format of dask's scheduler."""
    return {
        "address": entry.address, "resolve_address": False, "status": "running", "server_id": entry.name,
        "nthreads": 1, "name": entry.name, "now": time.time(), "resources": {}, "memory_limit": None,
        "metrics": _metrics(entry), "pid": entry.pid, "services": {}, "local_directory": "", "versions": {},
        "nanny": None, "extra": {}, "stimulus_id": f"join-{entry.number}",
    }  # fmt: skip
