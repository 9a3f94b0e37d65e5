"""The processes that one may call, and how it came to know them.

    members = Fixed(place, "worker1", security, timeout, listen)       so many of them, who met once
    members = Joined("ts://127.0.0.1:4711", "me", ...)                 a cluster: they come and go (`cluster`)

    members.info                       this process
    members.peer("worker2")            another one, by name, number or WorkerInfo
    members.workers()                  those that `map` gives batches to
    members.leave(left)                wait for what is to be waited for before one goes

A handle that travels says by a card whose value it is: number, name and address.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ts.distributed.comm import Security
from ts.distributed.rendezvous import Meeting, Place
from ts.distributed.rpc.peers import Peer
from ts.ops.rref import WorkerInfo

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import Agent

LOCAL: Final = "127.0.0.1"  # where processes listen that are called from their own machine only

Left = Callable[[], float | None]  # seconds that there are to wait; None: any number
Card = list[Any]


class Members:
    """Those that this process knows."""

    def __init__(self, agent: Agent, info: WorkerInfo, security: Security) -> None:
        self.agent = agent
        self.info = info
        self.security = security
        self.peers: dict[int, Peer] = {}
        self.trail: deque[Any] | None = None  # of calls that are over, where somebody shows them
        self._by_name: dict[str, Peer] = {}
        self._how = functools.partial(security.get_connection_args, "worker")

    def add(self, number: int, name: str, address: str) -> Peer:
        """A process is known by number and name from now on, whatever cards have said of its number."""
        found = self.numbered(number, name, address)
        if (found.info.name, found.address) != (name, address):
            found.close()
            found = self.peers[number] = Peer(WorkerInfo(name, number), address, self.info.id, self._how)
        self._by_name[name] = found
        return found

    def numbered(self, number: int, name: str, address: str) -> Peer:
        """A process that is known by its number from now on: another may have its name by now."""
        found = self.peers.get(number)
        if found is None:
            made = Peer(WorkerInfo(name, number), address, self.info.id, self._how)
            found = self.peers.setdefault(number, made)
        return found

    def peer(self, to: Any) -> Peer:
        """A process by its name, number or WorkerInfo; RuntimeError where there is none."""
        if isinstance(to, WorkerInfo):
            to = to.id
        if not isinstance(to, str | int):
            raise ValueError(f"Cannot get WorkerInfo from name {to}")
        found = self._by_name.get(to) if isinstance(to, str) else self.peers.get(to)
        return self.unknown(to) if found is None else found

    def may_be(self, number: int) -> bool:
        """Whether a process that says that it has a number may have it."""
        return number in self.peers

    def unknown(self, to: Any) -> Peer:
        """A process that was not known when it was asked for."""
        raise RuntimeError(self.nobody(to))

    def nobody(self, to: Any) -> str:
        """That there is no such process."""
        kind = "id" if isinstance(to, int) else "name"
        return f"name:{self.info.name},rank:{self.info.id} could not find destination {kind} {to}"

    def card(self, peer: Peer) -> Card:
        """What others need to call a process, as data."""
        return [peer.info.id, peer.info.name, peer.address]

    def of_card(self, card: Any) -> Peer:
        """The process that a card is of; ValueError for what is no card."""
        match card:
            case (int(number), str(), str()):
                return self.peer(number)
        raise ValueError(f"no card of a process: {card!r:.100}")

    def workers(self) -> list[WorkerInfo]:
        """All others."""
        return [peer.info for peer in self.peers.values() if peer.info != self.info]

    def leave(self, left: Left) -> None:
        """Wait until this process may go."""
        raise NotImplementedError

    def close(self) -> None:
        """Go."""
        for peer in self.peers.values():
            peer.close()


class Fixed(Members):
    """As many as were said, who are there from the time when all have come; they go together."""

    def __init__(
        self, place: Place, name: str, security: Security | None, timeout: float, agent: Agent
    ) -> None:
        self._meeting = Meeting(place, name, lambda known: agent.listen(known, LOCAL), security, timeout)
        super().__init__(agent, WorkerInfo(name, place.rank), self._meeting.security)
        for member in self._meeting.members:
            self.add(*member)

    def leave(self, left: Left) -> None:
        """Wait until the calls of all processes are over."""
        for turn in ("first", "second"):  # what runs meanwhile may have called others again
            self.agent.wait_until_quiet(left())
            self._meeting.barrier(f"leave, {turn}", left())

    def close(self) -> None:
        """Go."""
        super().close()
        self._meeting.close()
