"""Local part of a distributed backward pass, with dependency counting of missing gradients.

Input: gradients from other processes. Output: gradients of local tensors. The gradients of received tensors
are sent back to the sender of these tensors.

In the example, the part needs the gradients of the sent messages 0 and 3. When both have arrived, the part is
complete:

    backward_pass = context.pass_of(pass_id)
    backward_pass.begin([0, 3], keep)
    backward_pass.deliver(3, gradients)
    backward_pass.deliver(0, gradients)

Each backward node runs once, in the thread that delivers its last missing gradient.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

from ts._core.autograd.partial_backward import PartialBackward
from ts._core.tensor.tensor import Tensor
from ts._core.vm.future import Future
from ts.autograd.graph import GradientEdge
from ts.distributed import wire_values
from ts.distributed.dist_autograd.messenger import Messenger
from ts.distributed.event_loop import non_blocking

if TYPE_CHECKING:
    from ts.distributed.dist_autograd.contexts import DistAutogradContext

_thread = threading.local()  # attribute `backward_pass`: the BackwardPass whose nodes the current thread runs


class MessageOrigin(NamedTuple):
    """Identity of a message with tensors: context id, id of the sender, and number given by the sender."""

    context_id: int
    sender: int
    message_id: int


class BackwardPass:
    """Local part of a distributed backward pass, used as in the example of the module docstring."""

    def __init__(self, messenger: Messenger, context: DistAutogradContext, pass_id: int) -> None:
        self.done: Future[None] = Future()
        self._messenger, self._context, self._pass_id = messenger, context, pass_id
        self._run: PartialBackward | None = None
        # number of a sent message -> index of its tensors in `_edges`
        self._root_indices: dict[int, int] = {}
        self._edges: list[list[GradientEdge]] = []
        self._arrived: deque[tuple[int, list[Any]]] = deque()
        self._limits: Callable[[], AbstractContextManager[Any]] = nullcontext
        self._busy = False
        # Number of open tasks: messages whose gradients are not processed, and sent gradients without an
        # acknowledgment. The pass is complete at 0.
        self._open = 0
        self._lock = threading.RLock()

    def begin(
        self, messages: Sequence[int], keep: bool, own_roots: dict[int, list[GradientEdge]] | None = None
    ) -> None:
        """Start the pass, in which the tensors of sent messages receive gradients.

        messages    numbers of these messages
        keep        the argument `retain_graph` of the pass
        own_roots   roots of the pass if this process started it, by keys that are not message numbers
        """
        try:
            self._begin(messages, keep, own_roots or {})
        except Exception as error:
            # Callers that wait for `done` raise the error.
            self.fail(error)
        self._work()

    def _begin(self, messages: Sequence[int], keep: bool, own_roots: dict[int, list[GradientEdge]]) -> None:
        roots = dict(own_roots)
        for message_id in messages:
            if message_id not in self._context.sends:
                raise RuntimeError(f"Could not find send function for autograd message id: {message_id}")
            roots[message_id] = self._context.sends[message_id]
        with self._lock:
            if self._run is not None:
                raise RuntimeError("the backward pass has already begun")
            self._root_indices = {message_id: root_index for root_index, message_id in enumerate(roots)}
            self._edges = list(roots.values())
            self._open += len(roots)
            self._limits = nullcontext if own_roots else self._messenger.within
            self._run = PartialBackward(self._edges, keep, self._context.add)

    def deliver(self, message_id: int, gradients: list[Any]) -> None:
        """Add gradients of the tensors of a message, and run the nodes that now have all their gradients."""
        with self._lock:
            self._arrived.append((message_id, gradients))
        self._work()

    def _work(self) -> None:
        """Run the nodes whose gradients have arrived, unless another thread runs nodes of this pass."""
        while (next_one := self._take()) is not None:
            try:
                self._resume(*next_one)
            except Exception as error:  # callers that wait for `done` raise it
                self.fail(error)
                return
            self._busy = False
            self._over()

    def _take(self) -> tuple[int, list[Any]] | None:
        with self._lock:
            if self._run is None or self._busy or not self._arrived or self.done.done():
                return None
            self._busy = True
            return self._arrived.popleft()

    def _resume(self, message_id: int, gradients: list[Any]) -> None:
        root_index = self._root_indices.get(message_id)
        if root_index is None:
            raise RuntimeError(f"Could not find send function for autograd message id: {message_id}")
        _check(self._edges[root_index], gradients)
        assert self._run is not None
        outer, _thread.backward_pass = getattr(_thread, "backward_pass", None), self
        try:
            with self._limits():
                self._run.resume(root_index, gradients)
        finally:
            _thread.backward_pass = outer

    def send(self, origin: MessageOrigin, gradients: Sequence[Tensor | None]) -> None:
        """Send the gradients of tensors that arrived in a message to the sender of the message."""
        if origin.context_id != self._context.id:
            raise RuntimeError(_ENDED)
        encoded = wire_values.pack(list(gradients))
        message = ["backward", "gradients", self._context.id, self._pass_id, origin.message_id, *encoded]
        with self._lock:
            self._open += 1
        future = self._messenger.request(origin.sender, message)
        future.add_done_callback(non_blocking(self._message_done))

    def _message_done(self, future: Future[Any]) -> None:
        error = future.exception()
        self._over() if error is None else self.fail(error)

    def _over(self) -> None:
        with self._lock:
            self._open -= 1
            finished = self._open == 0 and not self.done.done()
            if finished:
                self._context.passes.pop(self._pass_id, None)
                self.done.set_result(None)

    def fail(self, error: Exception) -> None:
        """End this part of the pass with an error. The processes that wait for this part raise the error."""
        with self._lock:
            self._context.passes.pop(self._pass_id, None)
            if not self.done.done():
                self.done.set_exception(RuntimeError(f"Error on Node {self._messenger.worker_id}: {error}"))


_ENDED = (
    "Autograd context no longer valid! This usually means the autograd context was cleaned up by a different "
    "thread due to an error before RecvRpcBackward had a chance to run"
)


def send_gradients(origin: MessageOrigin, gradients: Sequence[Tensor | None]) -> None:
    """Send gradients of received tensors, as a part of the pass whose nodes this thread runs."""
    backward_pass: BackwardPass | None = getattr(_thread, "backward_pass", None)
    if backward_pass is None:
        raise RuntimeError(
            "gradients of values computed by other processes require torch.distributed.autograd.backward("
            "context_id, [loss]) inside of the autograd context"
        )
    backward_pass.send(origin, gradients)


def _check(edges: list[GradientEdge], gradients: Any) -> None:
    """Raise an error if received gradients do not have the number, dtypes and shapes of the sent tensors."""
    if not isinstance(gradients, list) or len(gradients) != len(edges):
        raise RuntimeError(f"expected {len(edges)} gradients")
    for edge, gradient in zip(edges, gradients, strict=True):
        if gradient is None:
            continue
        like = edge.node._input_metadata[edge.output_nr]
        if not isinstance(gradient, Tensor) or gradient.dtype is not like.dtype:
            raise RuntimeError(f"expected a gradient of dtype {like.dtype}, got {gradient!r:.100}")
        if tuple(gradient.shape) != tuple(like.shape):
            raise RuntimeError(f"expected a gradient of shape {like.shape}, got {gradient.shape}")
