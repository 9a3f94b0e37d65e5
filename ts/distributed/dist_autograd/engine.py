"""Backward passes over the autograd graphs of several processes, which RPC messages connect.

The process that calls `backward` coordinates the other processes. In the forward pass, each message sends
tensors from one process to another. In the backward pass, the gradients of these tensors are sent back.
`backward` runs these steps:

1. Find the messages whose tensors receive gradients, by requests to all processes (`message_dependencies`).
2. Send each process the numbers of its messages. The process responds when its part of the pass is complete.
3. Wait until all parts are complete. Meanwhile, the processes send gradients to each other, once per message.

If a process fails or is lost, `backward` raises an error immediately.
"""

from __future__ import annotations

import queue
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts._core.vm.future import Future
from ts.autograd.graph import GradientEdge, get_gradient_edge
from ts.distributed.dist_autograd.contexts import DistAutogradContainer, DistAutogradContext
from ts.distributed.dist_autograd.message_dependencies import ROOT_MESSAGE_INDEX, messages
from ts.distributed.dist_autograd.messenger import Messenger
from ts.distributed.event_loop import non_blocking


def backward(
    contexts: DistAutogradContainer, context: DistAutogradContext, roots: list[Tensor], retain_graph: bool
) -> None:
    """Add the gradients of the sum of `roots` to the context, in all processes."""
    messenger = contexts.messenger
    edges = _edges(roots)
    by_process = messages(messenger, context, edges)
    pass_id = contexts.new_id()
    worker_id = messenger.worker_id
    own_pass = context.pass_of(pass_id)
    own_messages = by_process.pop(worker_id, [])
    futures: list[Future[Any]] = [own_pass.done]
    for process, message_ids in by_process.items():
        message = ["backward", "begin", context.id, pass_id, message_ids, bool(retain_graph)]
        futures.append(messenger.request(process, message))
    try:
        own_pass.begin(own_messages, retain_graph, {ROOT_MESSAGE_INDEX: edges})
        own_pass.deliver(ROOT_MESSAGE_INDEX, [ts.ones_like(root) for root in roots])
        _wait(futures)
    except BaseException as error:
        _give_up(messenger, context, pass_id, [*by_process])
        raise _prefix_error(error, worker_id) from None


def backward_of(contexts: DistAutogradContainer, value: Any, context_id: int, retain_graph: bool) -> None:
    """Run backward from `value`, the value of an RRef, in a context.

    For the context id -1, run a local backward, which adds the gradients to `.grad`.
    """
    if not isinstance(value, Tensor):
        raise RuntimeError("RRef should contain a tensor for .backward()")
    if context_id == -1:
        value.backward(retain_graph=retain_graph)
    else:
        backward(contexts, contexts.find(context_id), [value], retain_graph)


def _edges(roots: Any) -> list[GradientEdge]:
    if not isinstance(roots, list | tuple) or not all(isinstance(root, Tensor) for root in roots):
        raise TypeError(f"backward(): roots must be a sequence of tensors, not {type(roots).__name__}")
    if not roots:
        raise RuntimeError("No tensors provided for gradient computation.")
    for root in roots:
        if not root.requires_grad:
            raise RuntimeError("requires_grad not set on root")
        if root.numel() != 1:
            raise RuntimeError(" is not a scalar, all roots need to be scalar")
        if root.grad_fn is None:
            raise RuntimeError(" does not have a valid gradient function.")
    return [get_gradient_edge(root) for root in roots]


def _wait(futures: list[Future[Any]]) -> None:
    """Wait until all futures are done or one has failed, and raise the error of the failed future."""
    done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
    for future in futures:
        future.add_done_callback(non_blocking(done.put))
    for _ in futures:
        done.get().value()


def _give_up(messenger: Messenger, context: DistAutogradContext, pass_id: int, processes: list[int]) -> None:
    """Abort the pass in all processes, so that no process waits for gradients that will not arrive."""
    context.pass_of(pass_id).fail(RuntimeError("the backward pass was aborted"))
    for process in processes:
        messenger.notify(process, ["backward", "give_up", context.id, pass_id])


def _prefix_error(error: BaseException, worker_id: int) -> BaseException:
    """Return a RuntimeError with the message of `error` after the prefix "Error on Node 1: " (worker id).

    An error that is not an instance of Exception, such as KeyboardInterrupt, is returned unchanged.
    """
    if not isinstance(error, Exception):
        return error
    message = str(error)
    return RuntimeError(
        message
        if message.startswith(f"Error on Node {worker_id}: ")
        else f"Error on Node {worker_id}: {message}"
    )
