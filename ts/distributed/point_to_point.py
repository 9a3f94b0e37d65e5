"""Point-to-point communication of tensors, under PyTorch's names.

    send(x, dst=1)                      returns when the memory of x may be changed
    recv(y, src=0)                      0, the rank of the sender (without `src`: any rank)
    work = irecv(y, src=0)              returns immediately, before the later work.wait()

Messages between two ranks with equal tags arrive in order.  Short tensors are sent before the receiver
requests them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.distributed.collective_call import memory_of
from ts.distributed.collectives import _FlatBuffers, check_tensor
from ts.distributed.errors import DistBackendError
from ts.distributed.groups import ProcessGroup, find, find_group_rank, get_rank, member_of
from ts.distributed.message_tags import ONE, make_tag
from ts.distributed.work import Transfer, Work


def _begin_send(tensor: Tensor, process_group: ProcessGroup, to: int, tag: int) -> Transfer:
    buffers = _FlatBuffers()
    memory = memory_of(buffers.read(tensor))
    links = process_group.links
    request = links.send(
        process_group.ranks[to], make_tag(ONE, process_group.group_id, tag, "send", tensor), memory
    )
    return Transfer(links, request, _make_wait(process_group, request, "send", buffers), [tensor])


def _begin_receive(tensor: Tensor, process_group: ProcessGroup, source: int | None, tag: int) -> Transfer:
    buffers = _FlatBuffers()
    memory = memory_of(buffers.write(tensor))
    links = process_group.links
    rank = None if source is None else process_group.ranks[source]
    request = links.receive(rank, make_tag(ONE, process_group.group_id, tag, "send", tensor), memory)
    return Transfer(links, request, _make_wait(process_group, request, "recv", buffers), [tensor])


def _make_wait(
    process_group: ProcessGroup, request: Any, operation: str, buffers: _FlatBuffers
) -> Callable[[float | None], None]:
    def wait(seconds: float | None) -> None:
        seconds = process_group.timeout if seconds is None else seconds
        try:
            process_group.links.wait([request], time.monotonic() + seconds)
        except TimeoutError:
            raise DistBackendError(
                f"Timed out waiting {seconds * 1000:.0f}ms for {operation} operation to complete"
            ) from None
        buffers.copy_results()

    return wait


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """Start to send a tensor, which must not change until the returned work is done."""
    check_tensor(tensor, "tensor")
    process_group = find(group, "isend")
    if process_group is None:
        return None
    work = _begin_send(tensor, process_group, _destination(process_group, dst, group_dst), tag)
    process_group.links.complete_in_background([work.request])
    return work


def _destination(process_group: ProcessGroup, dst: int | None, group_dst: int | None) -> int:
    to = find_group_rank(process_group, dst, group_dst)
    if to == process_group.rank():
        raise ValueError(
            "Invalid destination rank: destination rank should not be the same as the rank of the current "
            "process."
        )
    return to


def _source(process_group: ProcessGroup, src: int | None, group_src: int | None) -> int | None:
    if src is None and group_src is None:
        return None
    source = find_group_rank(process_group, src, group_src)
    if source == process_group.rank():
        raise ValueError(
            "Invalid source rank: source rank should not be the same as the rank of the current process."
        )
    return source


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """Start to receive a tensor. Its elements are valid when the returned work is done."""
    check_tensor(tensor, "tensor")
    process_group = find(group, "irecv")
    if process_group is None:
        return None
    work = _begin_receive(tensor, process_group, _source(process_group, src, group_src), tag)
    process_group.links.complete_in_background([work.request])
    return work


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor. Its memory may be changed when this function returns."""
    check_tensor(tensor, "tensor")
    process_group = member_of(group)
    _begin_send(tensor, process_group, _destination(process_group, dst, group_dst), tag).wait()


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor from rank `src` (None: from any rank), and return the rank of the sender."""
    check_tensor(tensor, "tensor")
    process_group = find(group, "recv")
    if process_group is None:
        return -1
    work = _begin_receive(tensor, process_group, _source(process_group, src, group_src), tag)
    work.wait()
    return work.source_rank()


class P2POp:
    """Arguments of a send or receive in `batch_isend_irecv`."""

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: ProcessGroup | None = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        process_group = member_of(group)
        self.group_peer = find_group_rank(process_group, peer, group_peer)
        self.peer = process_group.ranks[self.group_peer]

    def __repr__(self) -> str:
        own_rank = get_rank(self.group)
        source, target = (own_rank, self.group_peer) if self.op is isend else (self.group_peer, own_rank)
        group_name = member_of(self.group).group_name
        name = self.op.__name__
        return (
            f"P2POp({name} pg={group_name}, group_src={source}, group_dst={target},  {self.tensor.shape}, "
            f"{self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Work]:
    """Start several sends and receives, and return a Work for each of them."""
    if not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``."
        )
    p2p_op_list[0]  # evaluated only to raise IndexError for an empty list, as in PyTorch
    works = []
    for each in p2p_op_list:
        work = each.op(each.tensor, each.peer, each.group, each.tag)
        if work is not None:
            works.append(work)
    return works
