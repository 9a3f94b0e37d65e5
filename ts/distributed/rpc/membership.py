"""This process in a cluster: it keeps a connection to the scheduler, and asks it for those it does not know.

    members = Joined("ts://127.0.0.1:4711", "me", options, agent)
    members.peer("worker1")           known, or looked up; RuntimeError where there is none
    members.over.wait()               until it is no member any more; members.error is why, unless all is over

    connection that stays        "join", and how this process is ──►    ◄── who has gone, and when all is over
    connection that asks         "find", "members" ──►                  ◄── answers

When the scheduler goes, calls between processes that know each other go on, and this one tries to come back
under its name and number for `patience` seconds.  Whoever has gone is forgotten by name: another may come
under it, with another number.  Names of those who are known but whom the scheduler has lost stay.
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

import psutil
from distributed.comm.addressing import parse_address
from distributed.comm.core import FatalCommClosedError
from distributed.utils import get_ip

from ts.distributed import secret as secrets
from ts.distributed.comm import Comm, Security
from ts.distributed.comm.backend import connect
from ts.distributed.comm.security import PLAIN, TLS
from ts.distributed.errors import Gone
from ts.distributed.loop import inside, run
from ts.distributed.rpc.members import LOCAL, Left, Members
from ts.distributed.rpc.peers import Peer
from ts.ops.rref import WorkerInfo

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import Agent
    from ts.distributed.rpc.options import RpcBackendOptions

ANSWERS: Final = 10.0  # seconds in which a scheduler answers
BEAT: Final = 1.0  # seconds between two words of how this process is
CALLS: Final = 500  # that are told of at most between these, the last ones
_PARTS: Final = 1.0  # seconds in which a scheduler takes notice that this process goes
AGAIN: Final = 0.25  # seconds until a scheduler that does not answer is tried again

log = logging.getLogger(__name__)

Message = dict[str, Any]


class Refusal(RuntimeError):
    """The scheduler does not let this process in, or is not there."""


class Ended(Exception):
    """The cluster has ended."""


class Joined(Members):
    """This process and those of a cluster that it knows."""

    def __init__(
        self,
        address: str,
        name: str,
        options: RpcBackendOptions,
        agent: Agent,
        *,
        kind: str = "program",
        patience: float = math.inf,
    ) -> None:
        """`name` may be empty: the scheduler gives one. Programs are patient: they go when they like."""
        self.address = address
        self.error: Exception | None = None
        self.over = threading.Event()
        self.patience = patience
        self._kind = kind
        self._lost: str | None = None  # why there is no scheduler
        self._asking: Comm | None = None
        self._comm: Comm | None = None  # the one that stays
        self._leaving = False
        self._turn = asyncio.Lock()
        self._staying: asyncio.Task[None] | None = None
        security = security_for(address, options.secret, options.security)
        self._to_scheduler = security.get_connection_args("client")
        self._here = agent.listen(security, host_for(address))
        super().__init__(agent, WorkerInfo(name, -1), security)
        comm = within(address, self._join())
        self.add(self.info.id, self.info.name, self._here)
        run(self._begin(comm))

    # ---- what a process of a cluster is asked

    def may_be(self, number: int) -> bool:
        """Any: others may have joined later."""
        return number >= 0

    def unknown(self, to: Any) -> Peer:
        """A process that the scheduler may know."""
        found = self._ask({"op": "find", "who": to}, f"{to} cannot be looked up")
        if found is None:
            raise (Gone if isinstance(to, str) else RuntimeError)(self.nobody(to))  # a name may come back
        return self.add(*found)

    def of_card(self, card: Any) -> Peer:
        """The process that a card is of, which need not have been known."""
        match card:
            case (int(number), str(name), str(address)):
                if parse_address(address)[0] != parse_address(self.address)[0]:
                    raise ValueError(f"{address} is no address of this cluster")
                return self.numbered(number, name, address)
        return super().of_card(card)

    def workers(self) -> list[WorkerInfo]:
        """The workers, in the order of their numbers."""
        rows = self._ask({"op": "members"}, "nobody knows the workers")
        found = [row for row in rows if row["kind"] == "worker" and row["number"] != self.info.id]
        found.sort(key=lambda row: row["number"])
        return [self.add(row["number"], row["name"], row["address"]).info for row in found]

    def leave(self, left: Left) -> None:
        """Wait until the calls of this process are over: others stay."""
        self.agent.wait_until_quiet(left(), own=True)

    def close(self) -> None:
        """Go."""
        super().close()
        if inside():
            self._stop()
        elif self._staying is not None:
            run(self._part())
        self.over.set()

    # ---- asking

    def _ask(self, message: Message, otherwise: str) -> Any:
        """What the scheduler answers; RuntimeError with what cannot be done where there is none."""
        if self._lost is not None:
            raise RuntimeError(f"{otherwise}: the scheduler at {self.address} is gone ({self._lost})")
        try:
            return run(self._asked(message))
        except (OSError, TimeoutError) as error:
            told = str(error) or f"it does not answer in {ANSWERS:.0f} s"
            raise RuntimeError(f"{otherwise}: the scheduler at {self.address} is gone ({told})") from None

    async def _asked(self, message: Message) -> Any:
        async with self._turn, asyncio.timeout(ANSWERS):
            if self._asking is None or self._asking.closed():
                self._asking = await connect(self.address, **self._to_scheduler)
            try:
                await self._asking.write(message)
                return await self._asking.read()
            except BaseException:
                self._asking.abort()  # its answer would be taken for the next one's
                raise

    # ---- being there

    async def _join(self, number: int | None = None) -> Comm:
        """A connection to the scheduler by which this process is there. Refusal, or OSError without one."""
        async with asyncio.timeout(ANSWERS):
            comm = await connect(self.address, **self._to_scheduler)
            try:
                await comm.write(
                    {
                        "op": "join", "name": self.info.name, "address": self._here, "kind": self._kind,
                        "number": number, "pid": os.getpid(),
                    }
                )  # fmt: skip
                answered = await comm.read()
                if answered["status"] != "OK":
                    raise Refusal(answered.get("message") or answered.get("text"))
                await comm.read()  # what dask's scheduler says to workers of its own
            except BaseException:
                comm.abort()
                raise
        self.info = WorkerInfo(answered["name"], answered["number"])
        self._shows = answered["shows"]
        return comm

    async def _begin(self, comm: Comm) -> None:
        self._comm = comm
        if self._shows:
            self.trail = deque(maxlen=CALLS)
        self._staying = asyncio.create_task(self._stay(comm))

    async def _stay(self, comm: Comm) -> None:
        """Be there until all is over."""
        try:
            while True:
                beating = asyncio.create_task(self._beat(comm))
                try:
                    self._lost = await self._hear(comm)
                finally:
                    beating.cancel()
                    comm.abort()
                if self._leaving:
                    return
                comm = self._comm = await self._come_back()
                self._lost = self._asking = None
                self._by_name = {self.info.name: self.peers[self.info.id]}  # others may have come
        except Ended:
            self._lost = "it has ended"
        except Exception as error:  # for whoever waits that it is over
            self._lost, self.error = str(error), error
        finally:
            self.over.set()

    async def _hear(self, comm: Comm) -> str:
        """Take what the scheduler says; why it says no more. Ended where it has ended."""
        try:
            while True:
                for message in await comm.read():
                    match message:
                        case {"op": "remove-worker", "worker": address}:
                            self._gone(address)
                        case {"op": "close", "reason": "scheduler-close"}:
                            raise Ended
                        case {"op": "close"}:
                            return "it has given this process up"
        except OSError as error:
            return str(error)

    async def _come_back(self) -> Comm:
        """Join again under the same name and number; Refusal after so long."""
        until = time.monotonic() + self.patience
        while True:
            try:
                return await self._join(self.info.id)
            except FatalCommClosedError as error:
                self._lost = str(error)  # another cluster has its place, unless there is a new secret
            except (OSError, TimeoutError) as error:
                self._lost = str(error) or "it does not answer"
            if time.monotonic() > until:
                raise Refusal(f"the scheduler at {self.address} is gone: {self._lost}")
            await asyncio.sleep(AGAIN)

    async def _beat(self, comm: Comm) -> None:
        process = psutil.Process()
        try:
            while True:
                counts = self.agent.running.tally
                done = counts["done"]
                told: Message = {"running": counts["begun"] - done, "done": done, "failed": counts["failed"]}
                told |= {"memory": process.memory_info().rss, "calls": self._calls()}
                await comm.write([{"op": "beat", **told}])
                await asyncio.sleep(BEAT)
        except OSError:
            return  # which whoever hears learns, too

    def _calls(self) -> list[Any]:
        """The calls that are over since this was asked last."""
        trail = self.trail
        return [] if trail is None else [trail.popleft() for _ in range(len(trail))]

    def _gone(self, address: str) -> None:
        """Whoever listens there has left: its name may be another's by now, its number never."""
        for name, peer in list(self._by_name.items()):
            if peer.address == address and peer.info != self.info:
                self._by_name.pop(name, None)

    async def _part(self) -> None:
        """Tell the scheduler that this process goes, and wait until it knows: the name is free then."""
        assert self._comm is not None and self._staying is not None
        self._leaving = True
        try:
            await self._comm.write([{"op": "close-stream"}])
            await asyncio.wait({self._staying}, timeout=_PARTS)
        except OSError:
            log.debug("%s is not there to be told that %s goes", self.address, self.info)
        finally:
            self._stop()

    def _stop(self) -> None:
        if self._staying is not None:
            self._staying.cancel()
        if self._asking is not None:
            self._asking.abort()


def security_for(address: str, secret: bytes | None, security: Security | None) -> Security:
    """What is needed to talk to a scheduler; RuntimeError where it is not there."""
    place = urlsplit(address)
    if place.scheme not in (PLAIN, TLS) or not place.hostname or not place.port:
        raise ValueError(f"no address of a cluster: {address} ({PLAIN}://host:port, {TLS}://host:port)")
    if security is not None:
        scheme = security.scheme("worker")
        if scheme != place.scheme:
            raise RuntimeError(f"{address} does not fit security=, which is for {scheme}://")
        return security
    if place.scheme == TLS:
        raise RuntimeError(
            f"{address} needs certificates: security=ts.distributed.cluster.certificates.security(FOLDER), "
            "or --tls-dir FOLDER on a command line"
        )
    known = secret or secrets.shared(place.hostname, place.port)
    if known is None:
        raise RuntimeError(f"no cluster of this user is known at {address}")
    return Security(secret=known)


def host_for(address: str) -> str:
    """Where a process of a cluster listens if nobody says: where the scheduler can find it."""
    host = urlsplit(address).hostname
    assert host is not None
    return LOCAL if secrets.is_local(host) else get_ip(host)


def within(address: str, work: Coroutine[Any, Any, Any]) -> Any:
    """Do what a scheduler is needed for; RuntimeError where it is not there."""
    try:
        return run(work)
    except (OSError, TimeoutError) as error:
        told = str(error) or f"it does not answer in {ANSWERS:.0f} s"
        raise RuntimeError(f"no way into the cluster at {address}: {told}") from None
