"""One call of a collective function by all ranks, with its sequence number, messages and deadline.

Each message carries the sequence number of its call. The example exchanges messages with rank 1:

    call = CollectiveCall(group, "all_reduce", reduction, tensor)
    call.wait([call.receive(1, memory), call.send(1, memory)])

`call.fail(error)` lets the call also fail in the other ranks.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from ts._core.tensor.tensor import Tensor
from ts.distributed.errors import DistBackendError
from ts.distributed.message_tags import ALL, make_tag
from ts.distributed.peer_links import Request
from ts.distributed.reduce_op import ReduceOp

if TYPE_CHECKING:
    from ts.distributed.groups import ProcessGroup

Memory = memoryview


class CollectiveCall:
    """State of one collective call in this rank."""

    def __init__(
        self,
        group: ProcessGroup,
        function: str,
        tensor: Tensor | None = None,
        reduction: ReduceOp | None = None,
        timeout: float | None = None,
    ) -> None:
        self.group, self.function = group, function
        self.rank, self.size = group.rank(), group.size()
        self.others = [each for each in range(self.size) if each != self.rank]
        self._links = group.links
        self._ranks = group.ranks
        self.label = make_tag(ALL, group.group_id, group.next_call(), function, tensor, reduction)
        self.timeout = group.timeout if timeout is None else timeout
        self._deadline: float | None = None

    def send(self, rank: int, memory: Memory) -> Request:
        """Start to send memory to a rank of the group, and return the request."""
        return self._links.send(self._ranks[rank], self.label, memory)

    def receive(self, rank: int, memory: Memory) -> Request:
        """Start to receive into memory from a rank of the group, and return the request."""
        return self._links.receive(self._ranks[rank], self.label, memory)

    def wait(self, requests: Collection[Request]) -> None:
        """Wait until all requests are done."""
        if self._deadline is None:
            self._deadline = time.monotonic() + self.timeout
        try:
            self._links.wait(requests, self._deadline)
        except TimeoutError:
            late = sorted({each.source for each in requests if not each.done and each.source is not None})
            raise DistBackendError(
                f"Timed out waiting {self.timeout * 1000:.0f}ms for {self.function} to complete: "
                f"rank {', '.join(map(str, late))} did not participate"
            ) from None

    def fail(self, error: BaseException) -> None:
        """Make this call fail in all other ranks, with errors that contain the text of `error`."""
        self._links.abort_call(self.label, [self._ranks[each] for each in self.others], str(error))

    def workspace(self, count: int, dtype: Any) -> Any:
        """Return an uninitialized array for received data, in memory that later calls of the group reuse."""
        return self.group.workspace(count * dtype.itemsize)[: count * dtype.itemsize].view(dtype)


def memory_of(array: Any) -> Memory:
    """Return the bytes of a contiguous array as a memoryview."""
    return array.reshape(-1).view(np.uint8).data  # type: ignore[no-any-return]
