"""References to values of other processes: who owns what, and who still needs it.

    owner                                          user
        Owned(value), needed by {fork, ...}            RRef(identity, fork)
                                        ◄── ("drop", identity, fork)       the user's last handle has gone

An identity names a value, a fork a handle of one process on it; the owner's own handles are forks, too.  Who
passes a handle on makes a fork and keeps its own handle until the receiver says that the owner knows of the
new one ("confirmed"), or LEASE is over.  The owner forgets the forks of a process that has gone.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from ts.distributed.gradients import recording
from ts.distributed.loop import loop
from ts.distributed.rpc import kinds
from ts.distributed.rpc.answers import Answer, located
from ts.distributed.rpc.callees import signature_of
from ts.distributed.rpc.futures import RpcFuture
from ts.distributed.rpc.rref import RRef
from ts.distributed.values import Travel

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import Agent

LEASE = 120.0  # seconds in which whoever is sent a handle makes itself known to the owner
_DROPPED: Final = 1024  # forks that were dropped before they came

Identity = tuple[int, int]  # the process that made it, and its number there


class Owned:
    """A value that others refer to."""

    context_id: int | None = None  # of gradients, which the call that made it belonged to

    def __init__(self, agent: Agent) -> None:
        self.value = RpcFuture(agent)
        self.forks: dict[Identity, int] = {}  # with the process that has it
        self.travel: Travel | None = None  # of what made it

    def begins(self) -> None:
        """A thread has begun to make it."""

    def result(self, value: Any) -> None:
        """It is there."""
        self.value.set_result(value)

    def failed(self, error: BaseException, info: Any = None) -> None:
        """It could not be made."""
        self.value.agent.running.count("failed")
        self.value.set_exception(located(error, info))

    def unknown(self) -> None:
        """Its code has been given up meanwhile."""
        self.value.set_exception(RuntimeError("the code of this value has been given up"))


class References:
    """All values that this process owns or refers to."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.here = agent.info.id
        self.travel = Travel(RRef, self.pack, self.unpack)
        self._numbers = itertools.count()
        self._owned: dict[Identity, Owned] = {}
        # Passed on, by the fork that it is kept for, and until when.
        self._kept: dict[Identity, tuple[RRef, float]] = {}
        self._expiring = False
        # Forks of values that were dropped before they came: what is sent over a new connection may overtake.
        self._dropped: OrderedDict[tuple[Identity, Identity], None] = OrderedDict()
        self._lock = threading.RLock()  # a handle that goes meanwhile drops its fork in this very thread

    def __len__(self) -> int:
        return len(self._owned)

    def figures(self) -> dict[str, int]:
        """Values that are here, or will be, and handles: others' on them, and those on their way."""
        with self._lock:
            owned = [*self._owned.values()]
            return {
                "num_owner_rrefs": len(owned),
                "num_pending_futures": sum(not each.value.done() for each in owned),
                "num_forks": sum(holder != self.here for each in owned for holder in each.forks.values()),
                "num_pending_users": len(self._kept),
            }

    def travel_of(self, callee: Any) -> Travel:
        """How arguments and results of a callee travel."""
        signature = signature_of(callee)
        return self.travel if signature is None else self.travel._replace(signature=signature)

    def new(self) -> Identity:
        """A name that no other value or fork has."""
        return self.here, next(self._numbers)

    # ---- this process as owner

    def owned(self, identity: Identity, fork: Identity, process: int) -> Owned:
        """The value of an identity, which is made if there is none, needed by a fork of a process."""
        with self._lock:
            if (identity, fork) in self._dropped:
                return Owned(self.agent)  # which nobody needs any more
            found = self._owned.setdefault(identity, Owned(self.agent))
            found.forks[fork] = process
            return found

    def begin(self, identity: Identity, fork: Identity, process: int) -> Owned:
        """A value that a process has this one make; ValueError where the name is not its own, or is taken."""
        if identity[0] != process or fork[0] != process or identity in self._owned:
            raise ValueError(f"process {process} may not name a value {identity}")
        return self.owned(identity, fork, process)

    def owner_of(self, identity: Identity) -> Owned:
        """The value of an identity; RuntimeError where it is no more."""
        found = self._owned.get(identity)
        if found is None:
            raise RuntimeError(f"{self.agent.info} has no value {identity}: nobody needed it any more")
        return found

    def drop(self, identity: Identity, fork: Identity, process: int | None = None) -> None:
        """A fork, which is that of a process if one is given, needs a value no more."""
        with self._lock:
            found = self._owned.get(identity)
            holder = None if found is None else found.forks.get(fork)
            if found is None or holder is None:
                if process is not None and fork[0] == process:
                    self._dropped[identity, fork] = None
                    if len(self._dropped) > _DROPPED:
                        self._dropped.popitem(last=False)
                return
            if process is not None and holder != process:
                raise ValueError(f"process {process} may not drop what process {holder} needs")
            del found.forks[fork]
            if not found.forks:
                del self._owned[identity]

    def forget(self, process: int) -> None:
        """A process has gone, and needs nothing."""
        with self._lock:
            for identity, found in list(self._owned.items()):
                for fork in [fork for fork, holder in found.forks.items() if holder == process]:
                    self.drop(identity, fork)

    def own(self, value: Any) -> RRef:
        """A handle on a value of this process."""
        identity, fork = self.new(), self.new()
        self.owned(identity, fork, self.here).result(value)
        return RRef._handle(self.agent, self.agent.peer(self.here), identity, fork)

    # ---- handles on their way

    def pack(self, handle: RRef) -> Any:
        """A new fork of a handle, as data."""
        handle._check_created()  # else who gets it might ask the owner too soon
        fork, now = self.new(), time.monotonic()
        with self._lock:
            self._kept[fork] = handle, now + LEASE
            if not self._expiring:
                self._expiring = True
                loop().call_soon_threadsafe(loop().call_later, LEASE, self._expire)
        members = self.agent.members
        here = members.peer(self.here)
        return [members.card(handle._peer), list(handle._identity), list(fork), members.card(here)]

    def _expire(self) -> None:
        """Let go of handles whose receivers never made themselves known."""
        now = time.monotonic()
        with self._lock:
            old = {fork: self._kept.pop(fork) for fork, (_, until) in [*self._kept.items()] if until <= now}
            self._expiring = bool(self._kept) and not self.agent.closed
            if self._expiring:
                first = min(until for _, until in self._kept.values())
                loop().call_later(max(first - now, 0.1), self._expire)
        old.clear()

    def unpack(self, data: Any) -> RRef:
        """The handle that arrived; the process that it comes from may let go of its own."""
        owner, identity, fork, parent = data
        identity, fork = as_identity(identity), as_identity(fork)
        peer, sender = map(self.agent.members.of_card, (owner, parent))
        handle = RRef._handle(self.agent, peer, identity, fork)
        if peer.info.id == self.here:
            self.owner_of(identity)
            self.owned(identity, fork, self.here)
            self._confirm(sender, fork)
        else:
            need = ["need", list(identity), list(fork), self.here]
            self.agent.post(peer, need, lambda: self._confirm(sender, fork))
        return handle

    def _confirm(self, sender: Any, fork: Identity) -> None:
        if sender.info.id == self.here:
            self.confirmed(fork)
        else:
            self.agent.post(sender, ["confirmed", list(fork)])

    def confirmed(self, fork: Identity) -> None:
        """The owner knows of a fork: what was kept for it may go."""
        with self._lock:
            self._kept.pop(fork, None)

    # ---- what others say

    def handle(self, kind: str, rest: Any, answer: Answer, caller: int) -> None:
        """A message of a process about references; ValueError for another."""
        match kind, [*rest]:
            case "fetch", [identity, context]:
                answer.context_id = recording.joined(context, self.agent)
                answer.owned(self.owner_of(as_identity(identity)))
                return
            case "type", [identity]:
                kinds.answer(self.owner_of(as_identity(identity)).value, answer)
                return
            case "need", [identity, fork, int(process)] if process == caller:
                identity = as_identity(identity)
                self.owner_of(identity)
                self.owned(identity, as_identity(fork), process)
            case "drop", [identity, fork]:
                self.drop(as_identity(identity), as_identity(fork), caller)
            case "confirmed", [fork]:
                self.confirmed(as_identity(fork))
            case _:
                raise ValueError(f"no message: {kind}")
        answer.result(None)


def as_identity(data: Any) -> Identity:
    """What a message says is an identity or a fork; ValueError where it is none."""
    process, number = data
    if type(process) is not int or type(number) is not int:
        raise ValueError(f"no identity: {data!r}")
    return process, number
