"""Directories of the workers that this process can call.

    directory = StaticWorkerDirectory(place, "worker1", ...)           a fixed set from one rendezvous
    directory = ClusterWorkerDirectory("ts://127.0.0.1:4711", "me", ...)  a cluster (`cluster`)

    directory.info                     WorkerInfo of this process
    directory.peer("worker2")          a worker by name, id or WorkerInfo
    directory.workers()                workers that `map` distributes batches to
    directory.leave(remaining)         wait until this process may leave

A serialized RRef identifies its owner by id, name and address.
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
    from ts.distributed.rpc.agent import RpcAgent

LOCAL: Final = "127.0.0.1"  # listen address of workers on one machine

RemainingSeconds = Callable[[], float | None]  # returns the remaining seconds to wait; None: no limit
Card = list[Any]


class WorkerDirectory:
    """Table of known workers by id and name; base class."""

    def __init__(self, agent: RpcAgent, info: WorkerInfo, security: Credentials) -> None:
        self.agent = agent
        self.info = info
        self.security = security
        self.peers: dict[int, Peer] = {}
        self.trail: deque[Any] | None = None  # finished calls for the dashboard, if there is one
        self._by_name: dict[str, Peer] = {}
        self._connection_arguments = functools.partial(security.get_connection_args, "worker")

    def add(self, number: int, name: str, address: str) -> Peer:
        """Register a worker by id and name, replacing the name and address received with an RRef."""
        peer = self.numbered(number, name, address)
        if (peer.info.name, peer.address) != (name, address):
            peer.close()
            peer = self.peers[number] = Peer(
                WorkerInfo(name, number), address, self.info.id, self._connection_arguments
            )
        self._by_name[name] = peer
        return peer

    def numbered(self, number: int, name: str, address: str) -> Peer:
        """Return the peer with an id, registered by id only: its name may belong to another worker by now."""
        peer = self.peers.get(number)
        if peer is None:
            new_peer = Peer(WorkerInfo(name, number), address, self.info.id, self._connection_arguments)
            peer = self.peers.setdefault(number, new_peer)
        return peer

    def peer(self, to: Any) -> Peer:
        """Return a peer by name, id or WorkerInfo; RuntimeError if there is none."""
        if isinstance(to, WorkerInfo):
            to = to.id
        if not isinstance(to, str | int):
            raise ValueError(f"Cannot get WorkerInfo from name {to}")
        peer = self._by_name.get(to) if isinstance(to, str) else self.peers.get(to)
        return self.unknown(to) if peer is None else peer

    def can_have_id(self, number: int) -> bool:
        """Return whether a connecting process may claim the id `number`."""
        return number in self.peers

    def unknown(self, to: Any) -> Peer:
        """Look up a worker that is missing in the table; RuntimeError unless a subclass finds it."""
        raise RuntimeError(self.unknown_worker_message(to))

    def unknown_worker_message(self, to: Any) -> str:
        """Return PyTorch's error message for an unknown worker."""
        kind = "id" if isinstance(to, int) else "name"
        return f"name:{self.info.name},rank:{self.info.id} could not find destination {kind} {to}"

    def card(self, peer: Peer) -> Card:
        """Return the card of a peer: the id, name and address that another process needs to call it."""
        return [peer.info.id, peer.info.name, peer.address]

    def peer_from_card(self, card: Any) -> Peer:
        """Return the peer that a card describes; ValueError for a malformed card."""
        match card:
            case (int(number), str(), str()):
                return self.peer(number)
        raise ValueError(f"expected a card [id, name, address] of a worker, got {card!r:.100}")

    def workers(self) -> list[WorkerInfo]:
        """Return all other workers."""
        return [peer.info for peer in self.peers.values() if peer.info != self.info]

    def leave(self, remaining: RemainingSeconds) -> None:
        """Wait until this process may leave."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the connections to all peers."""
        for peer in self.peers.values():
            peer.close()


class StaticWorkerDirectory(WorkerDirectory):
    """Fixed set of workers that join in one rendezvous and shut down together."""

    def __init__(
        self,
        place: RendezvousAddress,
        name: str,
        security: Credentials | None,
        timeout: float,
        agent: RpcAgent,
    ) -> None:
        self._meeting = Rendezvous(
            place, name, lambda transport_security: agent.listen(transport_security, LOCAL), security, timeout
        )
        super().__init__(agent, WorkerInfo(name, place.rank), self._meeting.security)
        for member in self._meeting.members:
            self.add(*member)

    def leave(self, remaining: RemainingSeconds) -> None:
        """Wait until the calls of all workers have finished."""
        for phase in ("first", "second"):  # calls during the first barrier may have made further calls
            self.agent.wait_until_idle(remaining())
            self._meeting.barrier(f"leave, {phase}", remaining())

    def close(self) -> None:
        """Close the connections to all peers and the rendezvous."""
        super().close()
        self._meeting.close()
