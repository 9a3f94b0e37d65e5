"""Directories (service discovery) of the workers that this process can call.

The first directory contains a fixed set of workers, and the second the workers of a cluster:

    directory = StaticWorkerDirectory(endpoint, "worker1", ...)
    directory = ClusterWorkerDirectory("ts://127.0.0.1:4711", "me", ...)

Both have the same interface:

    directory.info                     WorkerInfo of this process
    directory.peer("worker2")          a worker by name, id or WorkerInfo
    directory.workers()                workers that `map` distributes batches to
    directory.leave(remaining)         waits until this process may leave
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ts.distributed.rendezvous import Rendezvous, RendezvousAddress
from ts.distributed.rpc.peers import Peer
from ts.distributed.transport.credentials import Credentials
from ts.ops.rpc_ops import WorkerInfo

if TYPE_CHECKING:
    from ts.distributed.rpc.endpoint import Endpoint

LOCAL: Final = "127.0.0.1"  # workers on one machine listen on this host

# function that returns the remaining seconds of a time limit, or None if there is no limit
RemainingSeconds = Callable[[], float | None]
PeerRecord = list[Any]


class WorkerDirectory:
    """Base class of worker directories: tables of the known workers by id and by name."""

    def __init__(self, endpoint: Endpoint, info: WorkerInfo, security: Credentials) -> None:
        self.endpoint = endpoint
        self.info = info
        self.security = security
        self.peers: dict[int, Peer] = {}
        # finished calls that the next heartbeat reports to the dashboard, or None if there is no dashboard
        self.finished_calls: deque[Any] | None = None
        self._by_name: dict[str, Peer] = {}
        self._connection_arguments = functools.partial(security.get_connection_args, "worker")

    def add(self, worker_id: int, name: str, address: str) -> Peer:
        """Register a worker by id and name.

        If another name or address of the worker is known (from an RRef), replace the peer.
        """
        peer = self.peer_with_id(worker_id, name, address)
        if (peer.info.name, peer.address) != (name, address):
            peer.close()
            peer = self.peers[worker_id] = Peer(
                WorkerInfo(name, worker_id), address, self.info.id, self._connection_arguments
            )
        self._by_name[name] = peer
        return peer

    def peer_with_id(self, worker_id: int, name: str, address: str) -> Peer:
        """Return the peer with this id.

        A missing peer is registered only by its id, because its name may belong to another worker now.
        """
        peer = self.peers.get(worker_id)
        if peer is None:
            new_peer = Peer(WorkerInfo(name, worker_id), address, self.info.id, self._connection_arguments)
            peer = self.peers.setdefault(worker_id, new_peer)
        return peer

    def peer(self, to: Any) -> Peer:
        """Return a peer by name, id or WorkerInfo. Raise RuntimeError if there is none."""
        if isinstance(to, WorkerInfo):
            to = to.id
        if not isinstance(to, str | int):
            raise ValueError(f"Cannot get WorkerInfo from name {to}")
        peer = self._by_name.get(to) if isinstance(to, str) else self.peers.get(to)
        return self.look_up_unregistered(to) if peer is None else peer

    def can_have_id(self, worker_id: int) -> bool:
        """Return True if a process that connects may have the id `worker_id`."""
        return worker_id in self.peers

    def look_up_unregistered(self, to: Any) -> Peer:
        """Raise RuntimeError for a worker missing from the table. Subclasses may look the worker up."""
        raise RuntimeError(self.unknown_worker_message(to))

    def unknown_worker_message(self, to: Any) -> str:
        """Return PyTorch's error message for an unknown worker."""
        kind = "id" if isinstance(to, int) else "name"
        return f"name:{self.info.name},rank:{self.info.id} could not find destination {kind} {to}"

    def peer_record(self, peer: Peer) -> PeerRecord:
        """Return id, name and address of a peer, by which another process can call it."""
        return [peer.info.id, peer.info.name, peer.address]

    def peer_from_record(self, record: Any) -> Peer:
        """Return the peer described by [id, name, address]. Raise ValueError for malformed data."""
        match record:
            case (int(worker_id), str(), str()):
                return self.peer(worker_id)
        raise ValueError(f"expected a record [id, name, address] of a worker, got {record!r:.100}")

    def workers(self) -> list[WorkerInfo]:
        """Return all other workers."""
        return [peer.info for peer in self.peers.values() if peer.info != self.info]

    def leave(self, remaining: RemainingSeconds) -> None:
        """Wait until this process may leave. Subclasses define the condition."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the connections to all peers."""
        for peer in self.peers.values():
            peer.close()


class StaticWorkerDirectory(WorkerDirectory):
    """Fixed set of workers that join in one rendezvous and shut down together."""

    def __init__(
        self,
        address: RendezvousAddress,
        name: str,
        security: Credentials | None,
        timeout: float,
        endpoint: Endpoint,
    ) -> None:
        self._rendezvous = Rendezvous(
            address,
            name,
            lambda transport_security: endpoint.listen(transport_security, LOCAL),
            security,
            timeout,
        )
        super().__init__(endpoint, WorkerInfo(name, address.rank), self._rendezvous.security)
        for member in self._rendezvous.members:
            self.add(*member)

    def leave(self, remaining: RemainingSeconds) -> None:
        """Wait until the calls of all workers have finished (termination detection by two barriers)."""
        # Workers that have not reached the first barrier may still call functions in workers that have
        # reached it. The second phase waits for the calls that such workers still execute.
        for phase in ("first", "second"):
            self.endpoint.calls.wait_until_idle(remaining())
            self._rendezvous.barrier(f"leave, {phase}", remaining())

    def close(self) -> None:
        """Close the connections to all peers and the rendezvous."""
        super().close()
        self._rendezvous.close()
