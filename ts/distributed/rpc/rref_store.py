"""RRef store with distributed reference counting (distributed garbage collection) of owned and remote values.

An identity is the id of a value. A fork is the id of one RRef to the value. When a user deletes an RRef, it
sends a message to the owner of the value:

    owner                                          user
        OwnerRRef(value, forks={...})                  RRef(identity, fork)
                                        ◄── ("drop", identity, fork)

A process that sends an RRef creates a fork for the receiver. The sender keeps its own RRef until the owner
has registered the fork, at most for FORK_CONFIRMATION_TIMEOUT_SECONDS. The owner discards the forks of
workers that have left.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Final

from ts.distributed.dist_autograd.send_recv_nodes import GradientCodec
from ts.distributed.event_loop import call_later, cancel_timer
from ts.distributed.rpc.callable_registry import signature_of
from ts.distributed.rpc.endpoint import Endpoint
from ts.distributed.rpc.peers import Peer
from ts.distributed.rpc.responses import ResponseWriter, with_remote_traceback
from ts.distributed.rpc.rpc_future import RpcFuture
from ts.distributed.rpc.worker_directory import WorkerDirectory
from ts.distributed.wire_values import WireContext
from ts.ops.rpc_ops import RRefValue

FORK_CONFIRMATION_TIMEOUT_SECONDS = 120.0
# maximum number of stored "drop" messages whose fork is not registered yet (`_early_drops`)
_MAX_EARLY_DROPS: Final = 1024

# (id of the worker that created this id, value of a counter of the worker)
GloballyUniqueId = tuple[int, int]


class OwnerRRef:
    """Value that this process owns, with the forks (RRefs) that keep it alive."""

    # id of the distributed autograd context of the call that computes the value, or None
    context_id: int | None = None

    def __init__(self, pool: Executor, count_failure: Callable[[], None]) -> None:
        self.value = RpcFuture(pool)
        self._count_failure = count_failure
        self.forks: dict[GloballyUniqueId, int] = {}  # id of a fork -> id of the worker that has the RRef
        self.wire_context: WireContext | None = None  # codec for the types in the signature of the callee

    def record_start(self) -> None:
        """Do nothing, because only a `ResponseWriter` records the time at which the computation starts."""

    def result(self, value: Any) -> None:
        """Set the result of the computation as the value."""
        self.value.set_result(value)

    def fail(self, error: BaseException, info: Any = None) -> None:
        """Set the exception of the computation, and count the failed call."""
        self._count_failure()
        self.value.set_exception(with_remote_traceback(error, info))

    def report_unknown_code(self) -> None:
        """Set an error: the code of the callee is no longer in the cache."""
        self.value.set_exception(RuntimeError("the code that computes this value was evicted from the cache"))


class RRefStore:
    """Values of this process, and RRefs that this process has sent and whose forks are not confirmed yet.

    `new_rref` creates an RRef from the owner of a value, the id of the value and a fork.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        directory: WorkerDirectory,
        new_rref: Callable[[Peer, GloballyUniqueId, GloballyUniqueId], Any],
    ) -> None:
        self.here = directory.info.id
        self.wire_context = WireContext(RRefValue, self.pack, self.unpack)
        self._endpoint, self._directory, self._new_rref = endpoint, directory, new_rref
        self._next_local_id = itertools.count()
        self._owners: dict[GloballyUniqueId, OwnerRRef] = {}
        # id of a fork that was sent but not confirmed -> (RRef that is kept alive, timer that releases it)
        self._pending_forks: dict[GloballyUniqueId, tuple[Any, int]] = {}
        # (id of the value, id of the fork) of each "drop" message that arrived before the fork was
        # registered. This occurs because messages on a new connection may overtake messages on the previous
        # one.
        self._early_drops: OrderedDict[tuple[GloballyUniqueId, GloballyUniqueId], None] = OrderedDict()
        # reentrant, because the finalizer of an RRef, which may run at any time, acquires it
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._owners)

    def debug_counts(self) -> dict[str, int]:
        """Return the numbers of owned values, pending values, other workers' forks, and unconfirmed forks."""
        with self._lock:
            owned = [*self._owners.values()]
            return {
                "num_owner_rrefs": len(owned),
                "num_pending_futures": sum(not each.value.done() for each in owned),
                "num_forks": sum(holder != self.here for each in owned for holder in each.forks.values()),
                "num_pending_users": len(self._pending_forks),
            }

    def wire_context_for(self, callee: Any) -> WireContext:
        """Return the context for encoding the arguments and results of a callee."""
        signature = signature_of(callee)
        return self.wire_context if signature is None else self.wire_context._replace(signature=signature)

    def new(self) -> GloballyUniqueId:
        """Return a new id that no other process creates."""
        return self.here, next(self._next_local_id)

    # ---- values that this process owns

    def add_fork(self, identity: GloballyUniqueId, fork: GloballyUniqueId, process: int) -> OwnerRRef:
        """Register a fork of worker `process` for the value `identity`.

        Create the value if it does not exist.
        """
        with self._lock:
            if (identity, fork) in self._early_drops:
                # the fork has already been dropped: return a value that is not registered
                return self._new_owner()
            owner = self._owners.setdefault(identity, self._new_owner())
            owner.forks[fork] = process
            return owner

    def _new_owner(self) -> OwnerRRef:
        return OwnerRRef(self._endpoint.pool, self._endpoint.calls.count_failure)

    def begin(self, identity: GloballyUniqueId, fork: GloballyUniqueId, process: int) -> OwnerRRef:
        """Create the value that a call of worker `process` will compute.

        Raise ValueError if worker `process` did not create the ids, or the value exists.
        """
        if identity[0] != process or fork[0] != process or identity in self._owners:
            raise ValueError(f"process {process} may not create the value {identity}: foreign or existing id")
        return self.add_fork(identity, fork, process)

    def owner_of(self, identity: GloballyUniqueId) -> OwnerRRef:
        """Return the `OwnerRRef` of the value `identity`. Raise RuntimeError if the value was deleted."""
        owner = self._owners.get(identity)
        if owner is None:
            here = self._directory.info
            raise RuntimeError(f"{here} has no value {identity}: its last reference was dropped")
        return owner

    def drop(self, identity: GloballyUniqueId, fork: GloballyUniqueId, process: int | None = None) -> None:
        """Drop a fork. Dropping the last fork deletes the value.

        Raise ValueError if the fork belongs to another process than `process`.
        """
        with self._lock:
            owner = self._owners.get(identity)
            holder = None if owner is None else owner.forks.get(fork)
            if owner is None or holder is None:
                if process is not None and fork[0] == process:
                    self._early_drops[identity, fork] = None
                    if len(self._early_drops) > _MAX_EARLY_DROPS:
                        self._early_drops.popitem(last=False)
                return
            if process is not None and holder != process:
                raise ValueError(f"process {process} may not drop a reference of process {holder}")
            del owner.forks[fork]
            if not owner.forks:
                del self._owners[identity]

    def forget(self, process: int) -> None:
        """Drop the forks of the worker `process`, which has left."""
        with self._lock:
            for identity, owner in list(self._owners.items()):
                for fork in [fork for fork, holder in owner.forks.items() if holder == process]:
                    self.drop(identity, fork)

    def create_owned(self, value: Any) -> Any:
        """Return a new RRef to a value of this process."""
        identity, fork = self.new(), self.new()
        self.add_fork(identity, fork, self.here).result(value)
        return self._new_rref(self._directory.peer(self.here), identity, fork)

    # ---- serialization of RRefs

    def pack(self, handle: Any) -> Any:
        """Serialize an RRef with a new fork for the receiver.

        Keep the RRef until the new fork is confirmed.
        """
        # Wait until the owner has started to compute the value. Otherwise the receiver might request a value
        # that the owner does not know.
        handle._check_created()
        fork = self.new()
        release = functools.partial(self.release_fork, fork)
        self._pending_forks[fork] = handle, call_later(FORK_CONFIRMATION_TIMEOUT_SECONDS, release)
        owner, own_peer = map(self._directory.peer_record, (handle._peer, self._directory.peer(self.here)))
        return [owner, list(handle._identity), list(fork), own_peer]

    def unpack(self, data: Any) -> Any:
        """Deserialize an RRef.

        Register its fork with the owner of the value, then confirm the fork to the sender.
        """
        owner, identity, fork, parent = data
        identity, fork = parse_id(identity), parse_id(fork)
        peer, sender = map(self._directory.peer_from_record, (owner, parent))
        handle = self._new_rref(peer, identity, fork)
        if peer.info.id == self.here:
            self.owner_of(identity)
            self.add_fork(identity, fork, self.here)
            self._confirm(sender, fork)
        else:
            need = ["need", list(identity), list(fork), self.here]
            self._endpoint.send_reliably(peer, need, lambda: self._confirm(sender, fork))
        return handle

    def _confirm(self, sender: Any, fork: GloballyUniqueId) -> None:
        if sender.info.id == self.here:
            self.release_fork(fork)
        else:
            self._endpoint.send_reliably(sender, ["confirmed", list(fork)])

    def release_fork(self, fork: GloballyUniqueId) -> None:
        """Release the RRef that was kept for an unconfirmed fork."""
        pending = self._pending_forks.pop(fork, None)
        if pending is not None:
            cancel_timer(pending[1])

    # ---- requests of other workers

    def handle_message(
        self, kind: str, rest: Any, response: ResponseWriter, caller: int, codec: GradientCodec
    ) -> None:
        """Execute a request about values or forks, and respond. Raise ValueError for an unknown kind."""
        match kind, [*rest]:
            case "fetch", [identity, context]:
                response.context_id = codec.join_context(context)
                response.send_when_ready(self.owner_of(parse_id(identity)))
                return
            case "type", [identity]:
                self.owner_of(parse_id(identity)).value.add_done_callback(response.send_type_name)
                return
            case "need", [identity, fork, int(process)] if process == caller:
                identity = parse_id(identity)
                self.owner_of(identity)
                self.add_fork(identity, parse_id(fork), process)
            case "drop", [identity, fork]:
                self.drop(parse_id(identity), parse_id(fork), caller)
            case "confirmed", [fork]:
                self.release_fork(parse_id(fork))
            case _:
                raise ValueError(f"unknown or malformed request: {kind}")
        response.result(None)


def parse_id(data: Any) -> GloballyUniqueId:
    """Parse an id in a message. Raise ValueError if it is not a pair of integers."""
    process, counter = data
    if type(process) is not int or type(counter) is not int:
        raise ValueError(f"expected an id (worker, counter), got {data!r}")
    return process, counter
