"""Serialization of tensors within a context: backward sends their gradients to the original process.

    parcel = pack((x, 1), agent, context_id, peer)      records x as part of message 0
    parcel                                              ((RECORDED, context, sender, 0, data), memory)
    value, context_id = unpack(parcel, agent)           in the receiver: x is a result of RecvRpcBackward

Outside a context, values are encoded by `wire_values`.  Tensors that require grad get separate memory in the
receiver, even if they share memory here: a write to shared memory could not be differentiated.
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
from ts.distributed.wire_values import Parcel, Tag, WireContext

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import RpcAgent
    from ts.distributed.rpc.peers import Peer


class MessageOrigin(NamedTuple):
    """Message from which tensors were received."""

    context_id: int
    sender: int
    number: int


class RecvRpc(Function):
    """Backward node of a received message; its backward sends the gradients to the sender."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, origin: MessageOrigin, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Return the received tensors as results of this node; `origin` identifies the message.

        `anchor` requires grad, so that the node is recorded.
        """
        ctx.origin = origin
        ctx.set_materialize_grads(False)
        ctx.mark_dirty(*tensors)
        return tensors

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[None, ...]:
        """Send the gradients of the received tensors to the sender; the inputs receive None."""
        backward_pass.send_back(ctx.origin, gradients)
        return None, None, *(None for _ in gradients)


Received = RecvRpc._backward_cls  # class of the receive nodes


@functools.cache
def _anchor() -> Tensor:
    """Return a dummy tensor that requires grad, so that the receive node is recorded."""
    return ts.zeros([], requires_grad=True)


def pack(
    value: Any,
    agent: RpcAgent,
    context_id: int | None,
    peer: Peer | None = None,
    travel: WireContext | None = None,
) -> Parcel:
    """Serialize a value; within a context, record tensors that require grad, with `peer` as the receiver.

    `travel` is the codec of references and objects; the default is the agent's.

    Raise RuntimeError for an ended context, TypeError for values that cannot be serialized.
    """
    travel = travel or agent.rref_context.travel
    if context_id is None:
        return wire_values.pack(value, travel)
    context = agent.contexts.find(context_id)
    recorded: list[Tensor] = []
    data, memory = wire_values.pack(value, travel, recorded)
    if not recorded and peer is None:
        return data, memory
    number = context.sent([get_gradient_edge(x) for x in recorded]) if recorded else -1
    if peer is not None:
        context.meet(peer.info.id)
    return (Tag.RECORDED, context_id, agent.info.id, number, data), memory


def unpack(parcel: Any, agent: RpcAgent, travel: WireContext | None = None) -> tuple[Any, int | None]:
    """Deserialize a value and return it with its context id, or None without a context.

    Raise MalformedValueError or ValueError for bad data.
    """
    travel = travel or agent.rref_context.travel
    data, memory = parcel
    if not isinstance(data, tuple) or len(data) != 5 or data[0] != Tag.RECORDED:
        return wire_values.unpack(parcel, travel), None
    _, context_id, sender, number, data = data
    agent.contexts.join(context_id, sender)
    recorded: list[Tensor] = []
    value = wire_values.unpack((data, memory), travel, recorded)
    if recorded:
        if type(number) is not int:
            raise ValueError(f"no message: {number!r}")
        with enable_grad():
            RecvRpc.apply(_anchor(), MessageOrigin(context_id, sender, number), *recorded)
    return value, context_id


def context_for(peer: Peer, agent: RpcAgent) -> list[int] | None:
    """Return the context id and worker id for a message without a value; None outside a context."""
    context_id = current_id()
    if context_id is None:
        return None
    agent.contexts.find(context_id).meet(peer.info.id)
    return [context_id, agent.info.id]


def joined(said: Any, agent: RpcAgent) -> int | None:
    """Join the context of a message and return its id; None outside a context.

    ValueError for an invalid context.
    """
    if said is None:
        return None
    context_id, sender = said
    return agent.contexts.join(context_id, sender).id
