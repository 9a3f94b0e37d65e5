"""Serialization of tensors within a context: the backward pass sends their gradients to the sender.

    encoded = pack((x, 1), agent, context_id, peer)     records x as part of message 0
    encoded                                             ((WITH_GRADIENTS, context, sender, 0, data), memory)
    value, context_id = unpack(encoded, agent)          in the receiver: x is a result of RecvRpcBackward

Outside a context, values are encoded by `wire_values`. Tensors that require grad do not share memory in the
receiver, even if they share memory in the sender, since a write to shared memory could not be differentiated.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import ts
from ts._core.tensor.tensor import Tensor
from ts.autograd.function import Function
from ts.autograd.grad_mode import enable_grad
from ts.autograd.graph import get_gradient_edge
from ts.distributed import wire_values
from ts.distributed.dist_autograd import backward_pass
from ts.distributed.dist_autograd.contexts import current_id
from ts.distributed.wire_values import EncodedValue, Tag, WireContext

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import RpcAgent
    from ts.distributed.rpc.peers import Peer


class MessageOrigin(NamedTuple):
    """Identity of a message with tensors: context id, id of the sender, and number given by the sender."""

    context_id: int
    sender: int
    message_id: int


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
    """Return a tensor that requires grad, so that autograd records the node of a received message."""
    return ts.zeros([], requires_grad=True)


def pack(
    value: Any,
    agent: RpcAgent,
    context_id: int | None,
    peer: Peer | None = None,
    wire_context: WireContext | None = None,
) -> EncodedValue:
    """Serialize a value for `peer`. Within a context, record the tensors that require grad.

    `wire_context` encodes references and objects. It defaults to the agent's WireContext.

    Raise RuntimeError for an ended context, TypeError for values that cannot be serialized.
    """
    wire_context = wire_context or agent.rref_context.wire_context
    if context_id is None:
        return wire_values.pack(value, wire_context)
    context = agent.contexts.find(context_id)
    grad_tensors: list[Tensor] = []
    data, memory = wire_values.pack(value, wire_context, grad_tensors)
    if not grad_tensors and peer is None:
        return data, memory
    message_id = (
        context.record_sent_message([get_gradient_edge(x) for x in grad_tensors]) if grad_tensors else -1
    )
    if peer is not None:
        context.add_peer(peer.info.id)
    return (Tag.WITH_GRADIENTS, context_id, agent.info.id, message_id, data), memory


def unpack(encoded: Any, agent: RpcAgent, wire_context: WireContext | None = None) -> tuple[Any, int | None]:
    """Deserialize a value, and return the value and its context id (None without a context).

    Raise MalformedValueError or ValueError if the data is invalid.
    """
    wire_context = wire_context or agent.rref_context.wire_context
    data, memory = encoded
    if not isinstance(data, tuple) or len(data) != 5 or data[0] != Tag.WITH_GRADIENTS:
        return wire_values.unpack(encoded, wire_context), None
    _, context_id, sender, message_id, data = data
    agent.contexts.join(context_id, sender)
    grad_tensors: list[Tensor] = []
    value = wire_values.unpack((data, memory), wire_context, grad_tensors)
    if grad_tensors:
        if type(message_id) is not int:
            raise ValueError(f"invalid message id: {message_id!r}")
        with enable_grad():
            RecvRpc.apply(_anchor(), MessageOrigin(context_id, sender, message_id), *grad_tensors)
    return value, context_id


def context_for(peer: Peer, agent: RpcAgent) -> list[int] | None:
    """Return [id of the current context, id of this worker] for a request without arguments to `peer`.

    Return None outside a context.
    """
    context_id = current_id()
    if context_id is None:
        return None
    agent.contexts.find(context_id).add_peer(peer.info.id)
    return [context_id, agent.info.id]


def join_context(header: Any, agent: RpcAgent) -> int | None:
    """Join the context of a message and return its id, or return None if `header` is None.

    Raise ValueError if an id is invalid.
    """
    if header is None:
        return None
    context_id, sender = header
    return agent.contexts.join(context_id, sender).id
