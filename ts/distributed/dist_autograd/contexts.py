"""Distributed autograd contexts, each of which contains the calls that belong to one backward pass.

Steps of a process that starts a backward pass:

    context = contexts.new()                    enters a new context in this thread
    context.record_sent_message([edge of x])    returns the number of a message that will receive gradients
    context.add(x, gradient, owned)             adds to the gradient of a leaf
    contexts.end(context.id)                    ends the context in all participating processes

Another process joins a context when it receives the first message of the context. Messages of ended contexts
are rejected.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ts._core.tensor.tensor import Tensor
from ts._core.vm.inherited import carried, carry
from ts.autograd.graph import GradientEdge
from ts.distributed.dist_autograd.backward_pass import BackwardPass
from ts.distributed.dist_autograd.messenger import Messenger

# A context id has this number of low bits for a counter. Its high bits are the id of its process.
_BITS: Final = 32
# Messages of ended contexts are rejected. The ids of at most this number of contexts are stored.
_MAX_ENDED_CONTEXTS: Final = 4096


def current_id() -> int | None:
    """Return the id of this thread's context, or None outside of contexts.

    A thread that runs a script task has the context of the code that started the task.
    """
    context_id: int | None = carried()
    return context_id


def set_current_context(context_id: int | None) -> None:
    """Set the context id of this thread. None means no context."""
    carry(context_id)


@contextmanager
def entered_context(context_id: int | None) -> Iterator[None]:
    """Return a context manager in which the autograd context `context_id` is the current one."""
    before = current_id()
    set_current_context(context_id)
    try:
        yield
    finally:
        set_current_context(before)


class DistAutogradContext:
    """Local part of a distributed autograd context: peer ids, sent messages and gradients."""

    def __init__(self, messenger: Messenger, context_id: int) -> None:
        self.id = context_id
        # ids of the processes to which calls were sent, or from which calls were received, in this context
        self.peer_ids: set[int] = set()
        # number of a sent message -> gradient edges of the tensors in the message
        self.sends: dict[int, list[GradientEdge]] = {}
        self.passes: dict[int, BackwardPass] = {}
        self._messenger = messenger
        self._ids = itertools.count()
        self._gradients: dict[Tensor, Tensor] = {}
        self._lock = threading.Lock()

    def _context_id(self) -> int:
        return self.id

    def _known_worker_ids(self) -> set[int]:
        return self.peer_ids

    def add_peer(self, process: int) -> None:
        """Register another process as a participant of this context."""
        if process != self._messenger.worker_id:
            self.peer_ids.add(process)

    def record_sent_message(self, edges: list[GradientEdge]) -> int:
        """Record the gradient edges of the tensors in a sent message, and return the number of the message.

        In the backward pass, the receiver of the message sends the gradients of these tensors.
        """
        message_id = next(self._ids)
        self.sends[message_id] = edges
        return message_id

    def add(self, leaf: Tensor, gradient: Tensor, owned: bool) -> None:
        """Add `gradient` to the gradient of the leaf tensor `leaf`.

        `owned` is True if no other code uses the tensor `gradient`. In this case, it can be stored without a
        copy.
        """
        with self._lock:
            before = self._gradients.get(leaf)
            if before is not None:
                gradient = before + gradient
            elif not owned:
                gradient = gradient.clone()
            self._gradients[leaf] = gradient

    def gradients(self) -> dict[Tensor, Tensor]:
        """Return the gradients accumulated so far."""
        with self._lock:
            return dict(self._gradients)

    def pass_of(self, pass_id: int) -> BackwardPass:
        """Return the backward pass `pass_id` of this context. The first call with an id creates the pass."""
        with self._lock:
            if pass_id not in self.passes:
                self.passes[pass_id] = BackwardPass(self._messenger, self, pass_id)
            return self.passes[pass_id]

    def close(self) -> None:
        """Make running passes fail, and discard all recorded messages."""
        for each in list(self.passes.values()):
            each.fail(RuntimeError(f"the autograd context {self.id} has ended"))
        self.passes.clear()
        self.sends.clear()


class DistAutogradContainer:
    """All distributed autograd contexts in which this process participates."""

    def __init__(self, messenger: Messenger) -> None:
        self.messenger = messenger
        self._here = messenger.worker_id
        self._ids = itertools.count()
        self._open: dict[int, DistAutogradContext] = {}
        self._ended: OrderedDict[int, None] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._open)

    def debug_counts(self) -> dict[str, int]:
        """Return the numbers of open contexts and of running passes of this process."""
        with self._lock:
            passes = [each for context in self._open.values() for each in [*context.passes.values()]]
            under_way = sum(not each.done.done() for each in passes)
            return {"num_autograd_contexts": len(self._open), "num_current_backward_passes": under_way}

    def new_id(self) -> int:
        """Return a new id for a context or pass, unique across processes."""
        return self._here << _BITS | next(self._ids)

    def new(self) -> DistAutogradContext:
        """Create a context and enter it in this thread. Raise RuntimeError within another context."""
        if current_id() in self._open:
            raise RuntimeError("Already have an autograd context id for this thread.")
        context = DistAutogradContext(self.messenger, self.new_id())
        with self._lock:
            self._open[context.id] = context
        set_current_context(context.id)
        return context

    def find(self, context_id: Any) -> DistAutogradContext:
        """Return the open context with this id, or raise RuntimeError if it does not exist."""
        context = self._open.get(context_id) if type(context_id) is int else None
        if context is None:
            raise RuntimeError(f"Could not find autograd context with id: {context_id}")
        return context

    def join(self, context_id: Any, process: Any) -> DistAutogradContext:
        """Return the context of a message from `process`, and add this sender to the context's peers.

        For the first message of another process's context, create the context here.

        Raise RuntimeError if the context has ended, and ValueError if an id is invalid.
        """
        numbers = type(context_id) is int and type(process) is int
        if not numbers or not all(map(self.messenger.can_have_id, (context_id >> _BITS, process))):
            raise ValueError(f"invalid autograd context id {context_id!r} or process id {process!r}")
        with self._lock:
            is_open = context_id in self._open
            if not is_open and context_id >> _BITS != self._here and context_id not in self._ended:
                self._open[context_id] = DistAutogradContext(self.messenger, context_id)
        context = self.find(context_id)
        context.add_peer(process)
        return context

    def end(self, context_id: int) -> None:
        """End a context in all its processes. Raise RuntimeError for an unknown context."""
        context = self.find(context_id)
        with self._lock:
            if self._open.pop(context_id, None) is None:
                return
            self._remember(context_id)
        context.close()
        for process in context.peer_ids:
            self.messenger.notify(process, ["backward", "end", context_id])

    def end_locally(self, context_id: Any) -> None:
        """End a context locally, after another process has ended it."""
        if context_id in self._open:
            self.end(context_id)
        elif type(context_id) is int:
            with self._lock:
                # Later messages of this context will be rejected.
                self._remember(context_id)

    def _remember(self, context_id: int) -> None:
        self._ended[context_id] = None
        if len(self._ended) > _MAX_ENDED_CONTEXTS:
            self._ended.popitem(last=False)

    def forget(self, process: int) -> None:
        """End the contexts that were created by the process `process`, which has left."""
        for context_id in list(self._open):
            if context_id >> _BITS == process:
                self.end_locally(context_id)
