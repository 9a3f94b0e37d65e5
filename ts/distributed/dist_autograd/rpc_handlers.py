"""Handlers of RPC messages about distributed gradients and optimizers.

("backward", "links", context)                           dependencies of messages: `message_dependencies`
("backward", "begin", context, pass, numbers, keep)      messages that receive gradients. The response is
                                                         sent when this part of the pass is complete
("backward", "gradients", context, pass, number, ...)    gradients of one message
("backward", "give_up", context, pass)                   abort of the pass
("backward", "end", context)                             end of the context
("backward", "value", context, value, keep)              a pass that the receiver starts: `RRef.backward`
("optimizer", "new", ...), ("optimizer", "step", ...)    see `optimizers`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ts._core.vm.future import Future
from ts.distributed import wire_values
from ts.distributed.dist_autograd import engine, send_recv_nodes
from ts.distributed.dist_autograd.message_dependencies import message_dependencies

if TYPE_CHECKING:
    from ts.distributed.rpc.agent import RpcAgent
    from ts.distributed.rpc.responses import ResponseWriter


def handle(agent: RpcAgent, about: str, kind: str, rest: tuple[Any, ...], writer: ResponseWriter) -> None:
    """Execute a request about gradients or optimizers and send the result or exception to the caller."""
    try:
        _handle(agent, about, kind, rest, writer)
    except Exception as error:  # sent to the caller, which raises it
        writer.fail(error)


def backward_of(
    agent: RpcAgent, value: Future[Any], context_id: int, retain_graph: bool, writer: ResponseWriter
) -> None:
    """Run a backward pass that another process requested, and block this thread until it is complete."""
    try:
        if context_id == -1:
            raise ValueError("a backward pass in another process requires an autograd context")
        engine.backward_of(agent, value.wait(), context_id, retain_graph)
    except Exception as error:  # sent to the caller, which raises it
        writer.fail(error)
    else:
        writer.result(None)


def _handle(agent: RpcAgent, about: str, kind: str, rest: tuple[Any, ...], writer: ResponseWriter) -> None:
    contexts = agent.contexts
    match about, kind, rest:
        case "backward", "links", (context_id,):
            context = contexts.find(context_id)
            writer.result((message_dependencies(context, []), list(context.peer_ids)))
        case "backward", "begin", (context_id, int(pass_id), message_ids, bool(retain_graph)):
            backward_pass = contexts.find(context_id).pass_of(pass_id)
            backward_pass.done.add_done_callback(writer.send_result)
            backward_pass.begin(message_ids, retain_graph)
        case "backward", "gradients", (context_id, int(pass_id), int(message), data, memory):
            backward_pass = contexts.find(context_id).pass_of(pass_id)
            gradients = wire_values.unpack((data, memory))
            writer.result(None)
            backward_pass.deliver(message, gradients)
        case "backward", "give_up", (context_id, int(pass_id)):
            contexts.find(context_id).pass_of(pass_id).fail(RuntimeError("the backward pass was aborted"))
            writer.result(None)
        case "backward", "end", (context_id,):
            contexts.end_locally(context_id)
            writer.result(None)
        case "optimizer", _, encoded:
            writer.result(_optimizer(agent, kind, send_recv_nodes.unpack(encoded, agent)[0]))
        case _:
            raise ValueError(f"unknown or malformed request: {about} {kind}")


def _optimizer(agent: RpcAgent, kind: str, arguments: Any) -> Any:
    # imported at first use, because it imports `ts.optim`
    from ts.distributed.dist_autograd import optimizers

    match kind:
        case "new":
            return optimizers.make(agent, *arguments)
        case "step":
            return optimizers.step(*arguments)
    raise ValueError(f"unknown request: optimizer {kind}")
