"""Handlers of RPC messages about distributed gradients.

Each message (left) has one handler, which performs the action on the right. `numbers` are messages with
gradients, and `pass` is the id of a backward pass:

    ("backward", "links", context)                           return dependencies of messages
    ("backward", "begin", context, pass, numbers, keep)      start this part of the pass, and respond when it
                                                             is complete
    ("backward", "gradients", context, pass, number, ...)    deliver the gradients of one message
    ("backward", "give_up", context, pass)                   abort the pass
    ("backward", "end", context)                             end the context
    ("backward", "value", context, value, keep)              start a pass in this process, for
                                                             `RRef.backward`
"""

from __future__ import annotations

from typing import Any

from ts._core.vm.future import Future
from ts.distributed import wire_values
from ts.distributed.dist_autograd import engine
from ts.distributed.dist_autograd.contexts import DistAutogradContainer
from ts.distributed.dist_autograd.message_dependencies import message_dependencies
from ts.distributed.dist_autograd.messenger import ResultWriter


def backward_of(
    contexts: DistAutogradContainer,
    value: Future[Any],
    context_id: int,
    retain_graph: bool,
    writer: ResultWriter,
) -> None:
    """Run a backward pass that another process requested, and block this thread until it is complete."""
    if context_id == -1:
        raise ValueError("a backward pass in another process requires an autograd context")
    engine.backward_of(contexts, value.wait(), context_id, retain_graph)
    writer.result(None)


def handle(contexts: DistAutogradContainer, kind: str, rest: tuple[Any, ...], writer: ResultWriter) -> None:
    """Execute a request about gradients and send the result to the caller. Raise the error of the request."""
    match kind, rest:
        case "links", (context_id,):
            context = contexts.find(context_id)
            writer.result((message_dependencies(context, []), list(context.peer_ids)))
        case "begin", (context_id, int(pass_id), message_ids, bool(retain_graph)):
            backward_pass = contexts.find(context_id).pass_of(pass_id)
            backward_pass.done.add_done_callback(writer.send_result)
            backward_pass.begin(message_ids, retain_graph)
        case "gradients", (context_id, int(pass_id), int(message), data, memory):
            backward_pass = contexts.find(context_id).pass_of(pass_id)
            gradients = wire_values.unpack((data, memory))
            writer.result(None)
            backward_pass.deliver(message, gradients)
        case "give_up", (context_id, int(pass_id)):
            contexts.find(context_id).pass_of(pass_id).fail(RuntimeError("the backward pass was aborted"))
            writer.result(None)
        case "end", (context_id,):
            contexts.end_locally(context_id)
            writer.result(None)
        case _:
            raise ValueError(f"unknown or malformed request: backward {kind}")
