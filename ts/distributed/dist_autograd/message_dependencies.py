"""Search for the messages that a backward pass will traverse, before the pass runs.

Input: the context and the roots of a pass. Output: for each process, the numbers of its messages.

In the example, message 0 of process 1 and messages 4 and 7 of process 2 will receive gradients:

    messages(messenger, context, roots)          {1: [0], 2: [4, 7]}

Each process is asked once per pass on which received messages its sent messages depend.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from ts._core.autograd.partial_backward import reach
from ts.autograd.graph import GradientEdge
from ts.distributed.dist_autograd.contexts import DistAutogradContext
from ts.distributed.dist_autograd.messenger import Messenger
from ts.distributed.dist_autograd.send_recv_nodes import Received
from ts.distributed.errors import WorkerUnavailableError

# key in `Links` for the roots of the backward pass, which belong to no message
ROOT_MESSAGE_INDEX: Final = -1

Message = tuple[int, int]  # (id of the sending process, number that it gave the message)
Links = dict[int, list[Message]]


def message_dependencies(context: DistAutogradContext, roots: list[GradientEdge]) -> Links:
    """Return a dictionary: number of a sent message -> received messages on which the sent message depends.

    The key `ROOT_MESSAGE_INDEX` maps to the received messages on which `roots` depend.
    """
    message_ids = [ROOT_MESSAGE_INDEX, *context.sends]
    links: Links = {message_id: [] for message_id in message_ids}
    for node, bits in reach([roots, *(context.sends[n] for n in message_ids[1:])], Received).items():
        origin = node.origin  # type: ignore[attr-defined]
        if origin.context_id == context.id:
            for bit_index in _bit_indices(bits):
                links[message_ids[bit_index]].append((origin.sender, origin.message_id))
    return links


def _bit_indices(bits: int) -> Iterator[int]:
    """Yield the indices of the set bits of `bits`, highest first."""
    while bits:
        bit_index = bits.bit_length() - 1
        bits ^= 1 << bit_index
        yield bit_index


def messages(
    messenger: Messenger, context: DistAutogradContext, roots: list[GradientEdge]
) -> dict[int, list[int]]:
    """Return a dictionary: id of a sender -> numbers of its messages that receive gradients in a pass."""
    worker_id = messenger.worker_id
    links: dict[int, Links | Exception] = {worker_id: message_dependencies(context, roots)}
    todo: list[Message] = [(worker_id, ROOT_MESSAGE_INDEX)]
    by_sender: dict[int, list[int]] = defaultdict(list)
    seen = set(todo)
    while todo:
        process, message_id = todo.pop()
        if process not in links:
            _ask(messenger, context, links)
        dependencies = links[process]
        if isinstance(dependencies, Exception):
            raise dependencies
        for message in dependencies.get(message_id, ()):
            if message not in seen:
                seen.add(message)
                todo.append(message)
                by_sender[message[0]].append(message[1])
    return by_sender


def _ask(messenger: Messenger, context: DistAutogradContext, links: dict[int, Any]) -> None:
    """Request the dependencies from all processes of a context, and store them in `links` by process.

    For an unavailable process, store the error. `messages` raises it if the pass needs this process.
    """
    peer_ids = set(context.peer_ids)
    while peer_ids - set(links):
        question = ["backward", "links", context.id]
        requests = {process: messenger.request(process, question) for process in peer_ids - set(links)}
        for process, future in requests.items():
            try:
                links[process], others = future.wait()
                peer_ids |= set(others)
            except WorkerUnavailableError as error:
                links[process] = error
