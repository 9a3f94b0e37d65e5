"""Cluster membership of this process by a connection with heartbeats to the scheduler, and worker lookup.

Example for a process with the name "me":

    directory = ClusterWorkerDirectory("ts://127.0.0.1:4711", "me", options, endpoint)
    directory.peer("worker1")                 returns a known worker, or asks the scheduler
    directory.membership_ended.wait()         returns when the membership ends
    directory.error                           the cause of the end

The process has two connections to the scheduler. It sends and receives:

If the scheduler fails, calls between workers that know each other continue. This process tries to rejoin with
its name and id for `rejoin_timeout` seconds, and then looks up names again. If a worker is removed, its name
is forgotten, because another worker may take it.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import threading
import time
from collections import deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from ts.distributed import shared_secret as secrets
from ts.distributed.errors import WorkerUnavailableError
from ts.distributed.event_loop import on_event_loop, run
from ts.distributed.rpc.peers import Peer
from ts.distributed.rpc.worker_directory import LOCAL, RemainingSeconds, WorkerDirectory
from ts.distributed.transport.addresses import PLAIN, TLS, own_address, split_address, split_host_port
from ts.distributed.transport.credentials import Credentials, SharedSecret
from ts.distributed.transport.handshake import AuthenticationError
from ts.distributed.transport.transport import Connection, connect
from ts.ops.rpc_ops import WorkerInfo

if TYPE_CHECKING:
    from ts.distributed.rpc.endpoint import Endpoint
    from ts.distributed.rpc.options import RpcBackendOptions

SCHEDULER_RESPONSE_TIMEOUT_SECONDS: Final = 10.0
HEARTBEAT_INTERVAL_SECONDS: Final = 1.0
MAX_REPORTED_CALLS: Final = 500  # a heartbeat reports at most this many finished calls, the latest ones
# maximal time to wait until the scheduler acknowledges that this process leaves
_LEAVE_TIMEOUT_SECONDS: Final = 1.0
SCHEDULER_RETRY_INTERVAL_SECONDS: Final = 0.25

log = logging.getLogger(__name__)

Message = dict[str, Any]


class JoinError(RuntimeError):
    """Raised if the scheduler rejects this process or cannot be reached in time."""


class ClusterShutdownError(Exception):
    """Raised when the scheduler shuts down the cluster."""


class ClusterWorkerDirectory(WorkerDirectory):
    """Table of the known workers of a cluster. Unknown workers are looked up at the scheduler."""

    def __init__(
        self,
        address: str,
        name: str,
        options: RpcBackendOptions,
        endpoint: Endpoint,
        *,
        kind: str = "program",
        rejoin_timeout: float = math.inf,
    ) -> None:
        """Join the cluster at `address`. If `name` is empty, the scheduler chooses a name.

        rejoin_timeout   seconds for which this process tries to rejoin after the scheduler has failed
        """
        self.address = address
        self.error: Exception | None = None
        self.membership_ended = threading.Event()
        self.rejoin_timeout = rejoin_timeout
        self._kind = kind
        # reason why the scheduler is unavailable, or None while it is available
        self._scheduler_failure: str | None = None
        self._query_comm: Connection | None = None
        self._membership_comm: Connection | None = None
        self._leaving = False
        self._query_lock = asyncio.Lock()
        self._membership_task: asyncio.Task[None] | None = None
        security = security_for(address, options.secret, options.security)
        self._to_scheduler = security.get_connection_args("client")
        self._listen_address = endpoint.listen(security, host_for(address))
        super().__init__(endpoint, WorkerInfo(name, -1), security)
        comm = run_with_scheduler(f"cannot join the cluster at {address}", self._join())
        self.add(self.info.id, self.info.name, self._listen_address)
        run(self._start_membership(comm))

    def can_have_id(self, worker_id: int) -> bool:
        """Return True if `worker_id` may be the id of a worker.

        Ids unknown to this process are possible, because the workers with these ids may have joined later.
        """
        return worker_id >= 0

    def look_up_unregistered(self, to: Any) -> Peer:
        """Look up a worker by name or id at the scheduler.

        Raise WorkerUnavailableError for an unknown name, as the worker may join later. Raise RuntimeError for
        an unknown id, or if the scheduler is unavailable.
        """
        row = self._query_scheduler({"op": "find", "who": to}, f"{to} cannot be looked up")
        if row is None:
            kind = WorkerUnavailableError if isinstance(to, str) else RuntimeError
            raise kind(self.unknown_worker_message(to))
        return self.add(*row)

    def peer_from_record(self, record: Any) -> Peer:
        """Return the peer described by (id, name, address). Raise ValueError for malformed data."""
        match record:
            case (int(worker_id), str(name), str(address)):
                if urlsplit(address).scheme != urlsplit(self.address).scheme:
                    raise ValueError(f"{address} is not an address of this cluster")
                return self.peer_with_id(worker_id, name, address)
        return super().peer_from_record(record)

    def workers(self) -> list[WorkerInfo]:
        """Return the workers of the cluster except this one, ordered by id."""
        rows = self._query_scheduler({"op": "members"}, "the workers cannot be listed")
        workers = [row for row in rows if row["kind"] == "worker" and row["number"] != self.info.id]
        workers.sort(key=lambda row: row["number"])
        return [self.add(row["number"], row["name"], row["address"]).info for row in workers]

    def leave(self, remaining: RemainingSeconds) -> None:
        """Wait until the calls made by this process have finished. Calls of other workers may continue."""
        self.endpoint.calls.wait_until_idle(remaining(), own_calls_only=True)

    def close(self) -> None:
        """Leave the cluster and close all connections."""
        super().close()
        if on_event_loop():
            self._stop()
        elif self._membership_task is not None:
            run(self._announce_leave())
        self.membership_ended.set()

    def _query_scheduler(self, message: Message, otherwise: str) -> Any:
        """Return the scheduler's response.

        If the scheduler is unavailable, raise RuntimeError with a message that begins with `otherwise`.
        """
        unavailable = f"{otherwise}: the scheduler at {self.address} is unavailable"
        if self._scheduler_failure is not None:
            raise RuntimeError(f"{unavailable} ({self._scheduler_failure})")
        return run_with_scheduler(unavailable, self._exchange_query(message))

    async def _exchange_query(self, message: Message) -> Any:
        async with self._query_lock, asyncio.timeout(SCHEDULER_RESPONSE_TIMEOUT_SECONDS):
            if self._query_comm is None or self._query_comm.closed():
                self._query_comm = await connect(self.address, **self._to_scheduler)
            try:
                await self._query_comm.write(message)
                return await self._query_comm.read()
            except BaseException:
                # Close the connection: the response to this query may still arrive, and the next query would
                # read this response.
                self._query_comm.abort()
                raise

    async def _join(self, worker_id: int | None = None) -> Connection:
        """Connect to the scheduler and join the cluster.

        Raise JoinError if the scheduler rejects this process, and OSError if the scheduler is unreachable.
        """
        async with asyncio.timeout(SCHEDULER_RESPONSE_TIMEOUT_SECONDS):
            comm = await connect(self.address, **self._to_scheduler)
            try:
                await comm.write(
                    {
                        "op": "join", "name": self.info.name, "address": self._listen_address,
                        "kind": self._kind, "number": worker_id, "pid": os.getpid(),
                    }
                )  # fmt: skip
                response = await comm.read()
                if response["status"] != "OK":
                    raise JoinError(response.get("message") or response.get("text"))
                await comm.read()  # skip the message that dask's scheduler sends to each new worker
            except BaseException:
                comm.abort()
                raise
        self.info = WorkerInfo(response["name"], response["number"])
        self._reports_calls = response["shows"]
        return comm

    async def _start_membership(self, comm: Connection) -> None:
        self._membership_comm = comm
        if self._reports_calls:
            self.finished_calls = deque(maxlen=MAX_REPORTED_CALLS)
        self._membership_task = asyncio.create_task(self._maintain_membership(comm))

    async def _maintain_membership(self, comm: Connection) -> None:
        """Send heartbeats, read notifications, and rejoin, until this process leaves or the cluster ends."""
        try:
            while True:
                beating = asyncio.create_task(self._send_heartbeats(comm))
                try:
                    self._scheduler_failure = await self._read_notifications(comm)
                finally:
                    beating.cancel()
                    comm.abort()
                if self._leaving:
                    return
                comm = self._membership_comm = await self._rejoin()
                self._scheduler_failure = self._query_comm = None
                self._by_name = {
                    self.info.name: self.peers[self.info.id]
                    # All other names are looked up again: while this worker was disconnected, workers may
                    # have left, and new workers may have joined under their names.
                }
        except ClusterShutdownError:
            self._scheduler_failure = "it has shut down"
        # the main thread of the worker process reads the attribute `error` and raises this exception
        except Exception as error:
            self._scheduler_failure, self.error = str(error), error
        finally:
            self.membership_ended.set()

    async def _read_notifications(self, comm: Connection) -> str:
        """Read the scheduler's notifications until the connection ends, and return the reason for its end.

        Raise ClusterShutdownError if the scheduler shuts the cluster down.
        """
        try:
            while True:
                for message in await comm.read():
                    match message:
                        case {"op": "remove-worker", "worker": address}:
                            self._forget_address(address)
                        case {"op": "close", "reason": "scheduler-close"}:
                            raise ClusterShutdownError
                        case {"op": "close"}:
                            return "the scheduler removed this process from the cluster"
        except OSError as error:
            return str(error)

    async def _rejoin(self) -> Connection:
        """Try to join again with the same name and id. Raise JoinError after `rejoin_timeout` seconds."""
        until = time.monotonic() + self.rejoin_timeout
        while True:
            try:
                return await self._join(self.info.id)
            except AuthenticationError as error:
                # no further attempt: another cluster has the address now, or the secret has changed
                self._scheduler_failure = str(error)
            except (OSError, TimeoutError) as error:
                self._scheduler_failure = str(error) or "no response"
            if time.monotonic() > until:
                raise JoinError(f"the scheduler at {self.address} is unavailable: {self._scheduler_failure}")
            await asyncio.sleep(SCHEDULER_RETRY_INTERVAL_SECONDS)

    async def _send_heartbeats(self, comm: Connection) -> None:
        import psutil  # a dependency of dask.distributed (extra `rpc`)

        process = psutil.Process()
        try:
            while True:
                calls = self.endpoint.calls
                status: Message = {
                    "running": calls.executing,
                    "done": calls.events["done"],
                    "failed": calls.events["failed"],
                }
                status |= {"memory": process.memory_info().rss, "calls": self._take_finished_calls()}
                await comm.write([{"op": "beat", **status}])
                await asyncio.sleep(HEARTBEAT_INTERVAL_SECONDS)
        except OSError:
            return  # the scheduler is disconnected, which `_read_notifications` handles

    def _take_finished_calls(self) -> list[Any]:
        """Return and remove the calls that have finished since the last heartbeat."""
        finished_calls = self.finished_calls
        return (
            [] if finished_calls is None else [finished_calls.popleft() for _ in range(len(finished_calls))]
        )

    def _forget_address(self, address: str) -> None:
        """Remove the name of the worker at an address.

        Keep the id of the worker, since ids are not reused.
        """
        for name, peer in list(self._by_name.items()):
            if peer.address == address and peer.info != self.info:
                self._by_name.pop(name, None)

    async def _announce_leave(self) -> None:
        """Notify the scheduler that this process leaves, and wait (with a timeout) for its confirmation."""
        assert self._membership_comm is not None and self._membership_task is not None
        self._leaving = True
        try:
            await self._membership_comm.write([{"op": "close-stream"}])
            await asyncio.wait({self._membership_task}, timeout=_LEAVE_TIMEOUT_SECONDS)
        except OSError:
            log.debug("the scheduler at %s is unreachable while %s leaves", self.address, self.info)
        finally:
            self._stop()

    def _stop(self) -> None:
        if self._membership_task is not None:
            self._membership_task.cancel()
        if self._query_comm is not None:
            self._query_comm.abort()


def security_for(address: str, secret: bytes | None, security: Credentials | None) -> Credentials:
    """Return the security settings for connections to the scheduler at `address`.

    Return `security` if it is given. Otherwise, return settings with `secret`, or, if `secret` is None, with
    the secret of the user's cluster. Raise ValueError for an invalid address. Raise RuntimeError if there is
    no secret, or if the address requires other settings.
    """
    parsed = urlsplit(address)
    if parsed.scheme not in (PLAIN, TLS) or not parsed.hostname or not parsed.port:
        raise ValueError(
            f"invalid cluster address {address}: expected {PLAIN}://host:port or {TLS}://host:port"
        )
    if security is not None:
        scheme = security.scheme("worker")
        if scheme != parsed.scheme:
            raise RuntimeError(f"{address} does not match security=, which is for {scheme}://")
        return security
    if parsed.scheme == TLS:
        raise RuntimeError(
            f"{address} needs certificates: security=ts.distributed.cluster.certificates.security(FOLDER), "
            "or the command-line option --tls-dir FOLDER"
        )
    resolved_secret = secret or secrets.shared(parsed.hostname, parsed.port)
    if resolved_secret is None:
        raise RuntimeError(
            f"found no cluster of this user at {address}: it has ended, or another user has started it"
        )
    return SharedSecret(resolved_secret)


def host_for(address: str) -> str:
    """Return the default host on which a worker listens. The scheduler's machine can reach this host."""
    host, port = split_host_port(split_address(address)[1])
    return LOCAL if secrets.is_local(host) else own_address(host, port)


def run_with_scheduler(otherwise: str, work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that uses the scheduler.

    If the scheduler is unavailable, raise RuntimeError with a message that begins with `otherwise`.
    """
    try:
        return run(work)
    except (OSError, TimeoutError) as error:
        reason = str(error) or f"no response within {SCHEDULER_RESPONSE_TIMEOUT_SECONDS:.0f} s"
        raise RuntimeError(f"{otherwise} ({reason})") from None
