"""Serialization of tensors in a context, with backward nodes that send their gradients back to the sender.

In the sender, x is recorded as part of a message. In the receiver, x gets a backward node:

    codec = GradientCodec(contexts, wire_context)
    encoded = codec.pack((x, 1), context_id, process)
    value, context_id = codec.unpack(encoded)

Outside a context, `wire_values` encodes values. Tensors that require grad share no memory in the receiver,
because a write to shared memory could not be differentiated.
"""

from __future__ import annotations

import functools
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.autograd.function import Function
from ts.autograd.grad_mode import enable_grad
from ts.autograd.graph import get_gradient_edge
from ts.distributed import wire_values
from ts.distributed.dist_autograd import backward_pass
from ts.distributed.dist_autograd.backward_pass import MessageOrigin
from ts.distributed.dist_autograd.contexts import DistAutogradContainer, current_id
from ts.distributed.wire_values import EncodedValue, Tag, WireContext


class RecvRpc(Function):
    """Backward node of a received message: its backward sends the gradients to the sender of the message."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, origin: MessageOrigin, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Return the received tensors as results of this node. `origin` identifies the message.

        `anchor` is a tensor that requires grad. Without it, autograd would not record the node.
        """
        ctx.origin = origin
        ctx.set_materialize_grads(False)
        ctx.mark_dirty(*tensors)
        return tensors

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[None, ...]:
        """Send the gradients of the received tensors to the sender, and return None for all inputs."""
        backward_pass.send_gradients(ctx.origin, gradients)
        return None, None, *(None for _ in gradients)


# class of the autograd nodes that represent received messages in the backward pass
Received = RecvRpc._backward_cls


@functools.cache
def _anchor() -> Tensor:
    """Return a tensor that requires grad.

    Autograd records a `RecvRpc` node only if an input requires grad.
    """
    return ts.zeros([], requires_grad=True)


class GradientCodec:
    """Serialization of values, which records tensors that require grad within autograd contexts.

    `wire_context` is the default codec of references and objects.
    """

    def __init__(self, contexts: DistAutogradContainer, wire_context: WireContext) -> None:
        self._contexts, self._wire_context = contexts, wire_context
        self._worker_id = contexts.messenger.worker_id

    def pack(
        self,
        value: Any,
        context_id: int | None,
        process: int | None = None,
        wire_context: WireContext | None = None,
    ) -> EncodedValue:
        """Serialize a value for another process. In a context, record its tensors that require grad.

        Raise RuntimeError for an ended context, TypeError for values that cannot be serialized.
        """
        wire_context = wire_context or self._wire_context
        if context_id is None:
            return wire_values.pack(value, wire_context)
        context = self._contexts.find(context_id)
        grad_tensors: list[Tensor] = []
        data, memory = wire_values.pack(value, wire_context, grad_tensors)
        if not grad_tensors and process is None:
            return data, memory
        edges = [get_gradient_edge(x) for x in grad_tensors]
        message_id = context.record_sent_message(edges) if grad_tensors else -1
        if process is not None:
            context.add_peer(process)
        return (Tag.WITH_GRADIENTS, context_id, self._worker_id, message_id, data), memory

    def unpack(self, encoded: Any, wire_context: WireContext | None = None) -> tuple[Any, int | None]:
        """Deserialize a value, and return the value and its context id (None without a context).

        Raise MalformedValueError or ValueError if the data is invalid.
        """
        wire_context = wire_context or self._wire_context
        data, memory = encoded
        if not isinstance(data, tuple) or len(data) != 5 or data[0] != Tag.WITH_GRADIENTS:
            return wire_values.unpack(encoded, wire_context), None
        _, context_id, sender, message_id, data = data
        self._contexts.join(context_id, sender)
        grad_tensors: list[Tensor] = []
        value = wire_values.unpack((data, memory), wire_context, grad_tensors)
        if grad_tensors:
            if type(message_id) is not int:
                raise ValueError(f"invalid message id: {message_id!r}")
            with enable_grad():
                RecvRpc.apply(_anchor(), MessageOrigin(context_id, sender, message_id), *grad_tensors)
        return value, context_id

    def context_for(self, process: int) -> list[int] | None:
        """Return [id of the current context, id of this worker] for a request without arguments.

        Return None outside a context.
        """
        context_id = current_id()
        if context_id is None:
            return None
        self._contexts.find(context_id).add_peer(process)
        return [context_id, self._worker_id]

    def join_context(self, header: Any) -> int | None:
        """Join the context of a message and return its id, or return None if `header` is None.

        Raise ValueError if an id is invalid.
        """
        if header is None:
            return None
        context_id, sender = header
        return self._contexts.join(context_id, sender).id
