"""Point-to-point communication (send, receive) of tensors, with an eager protocol for short tensors.

The examples send a tensor x to rank 1, and receive a tensor y from rank 0:

    send(x, dst=1)                      returns when the memory of x may be changed
    recv(y, src=0)                      waits for a tensor, and returns the rank of the sender
    work = irecv(y, src=0)              returns immediately
    work.wait()                         waits for the tensor

Without `src`, the sender may be any rank. Messages between two ranks with equal tags arrive in order. Short
tensors are sent before the receiver requests them.
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


def _begin(tensor: Tensor, process_group: ProcessGroup, rank: int | None, tag: int, sends: bool) -> Transfer:
    """Start to send a tensor to the group rank `rank`, or to receive a tensor from it.

    If `rank` is None, receive the tensor from any rank.
    """
    buffers, links = _FlatBuffers(), process_group.links
    memory = memory_of(buffers.read(tensor) if sends else buffers.write(tensor))
    label = make_tag(ONE, process_group.group_id, tag, "send", tensor)
    other = None if rank is None else process_group.ranks[rank]
    if sends and other is not None:
        request = links.send(other, label, memory)
    else:
        request = links.receive(other, label, memory)

    def wait(seconds: float | None) -> None:
        seconds = process_group.timeout if seconds is None else seconds
        try:
            links.wait([request], time.monotonic() + seconds)
        except TimeoutError:
            operation = "send" if sends else "recv"
            raise DistBackendError(
                f"Timed out waiting {seconds * 1000:.0f}ms for {operation} operation to complete"
            ) from None
        buffers.copy_results()

    return Transfer(links, request, wait, [tensor])


def _other_rank(process_group: ProcessGroup, rank: int | None, group_rank: int | None, role: str) -> int:
    """Return the group rank of the other process.

    `role` ("destination" or "source") is for error messages.
    """
    other = find_group_rank(process_group, rank, group_rank)
    if other == process_group.rank():
        raise ValueError(
            f"Invalid {role} rank: {role} rank should not be the same as the rank of the current process."
        )
    return other


def _source(process_group: ProcessGroup, src: int | None, group_src: int | None) -> int | None:
    any_rank = src is None and group_src is None
    return None if any_rank else _other_rank(process_group, src, group_src, "source")


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
    to = _other_rank(process_group, dst, group_dst, "destination")
    work = _begin(tensor, process_group, to, tag, sends=True)
    process_group.links.complete_in_background([work.request])
    return work


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
    work = _begin(tensor, process_group, _source(process_group, src, group_src), tag, sends=False)
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
    to = _other_rank(process_group, dst, group_dst, "destination")
    _begin(tensor, process_group, to, tag, sends=True).wait()


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor from rank `src`, or from any rank if `src` is None. Return the rank of the sender."""
    check_tensor(tensor, "tensor")
    process_group = find(group, "recv")
    if process_group is None:
        return -1
    work = _begin(tensor, process_group, _source(process_group, src, group_src), tag, sends=False)
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
    p2p_op_list[0]  # raises IndexError for an empty list, as PyTorch does
    works = []
    for each in p2p_op_list:
        work = each.op(each.tensor, each.peer, each.group, each.tag)
        if work is not None:
            works.append(work)
    return works
