"""Object collectives of plain values (numbers, strings, lists, dicts ...) without pickles.

In the example, `found` becomes the list of the values of all ranks:

    found = [None] * get_world_size()
    all_gather_object(found, {"loss": 0.5})

PyTorch sends pickles, which may run code when they are loaded. These functions send plain data. Values of
other types raise an error in the sender.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ts._core.tensor.tensor import Tensor, wrap_array
from ts.distributed import wire_values
from ts.distributed.collectives import all_gather, broadcast, gather, scatter
from ts.distributed.groups import ProcessGroup, find, find_group_rank, member_of
from ts.distributed.point_to_point import recv, send
from ts.distributed.transport.message_pack import decode, encode


def serialize_to_array(value: Any) -> Any:
    """Serialize a value to a uint8 array."""
    data, memory = wire_values.pack(value)
    head = encode([data, [bytes(each) for each in memory]])
    return np.frombuffer(head, np.uint8).copy()


def deserialize_array(data: Any) -> Any:
    """Deserialize the value in an array of bytes."""
    return wire_values.unpack(decode(memoryview(data)))


def _sizes(count: int) -> Tensor:
    return wrap_array(np.zeros(count, np.int64))


def all_gather_object(object_list: list[Any], obj: Any, group: ProcessGroup | None = None) -> None:
    """Gather the values of all ranks into a list on every rank."""
    process_group = find(group, "all_gather_object")
    if process_group is None:
        return
    if len(object_list) != process_group.size():
        raise RuntimeError(
            f"all_gather_object: expected a list of length {process_group.size()}, got {len(object_list)}"
        )
    values = _gathered(process_group, obj, None)
    assert values is not None
    object_list[:] = values


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    group_dst: int | None = None,
) -> None:
    """Gather the values of all ranks into a list on rank `dst`."""
    process_group = find(group, "gather_object")
    if process_group is None:
        return
    to = find_group_rank(process_group, 0 if dst is None and group_dst is None else dst, group_dst)
    if process_group.rank() == to and not object_gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if process_group.rank() != to and object_gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    values = _gathered(process_group, obj, to)
    if values is not None and object_gather_list is not None:
        object_gather_list[:] = values


def _gathered(process_group: ProcessGroup, value: Any, to: int | None) -> list[Any] | None:
    """Gather the values of all ranks at rank `to`, or at all ranks if `to` is None."""
    data = serialize_to_array(value)
    sizes = [_sizes(1) for _ in range(process_group.size())]
    own_size = _sizes(1)
    own_size.array[0] = data.size
    all_gather(sizes, own_size, process_group)
    longest = max(int(each.array[0]) for each in sizes)
    padded = np.zeros(longest, np.uint8)
    padded[: data.size] = data
    rows = None
    if to is None or process_group.rank() == to:
        rows = [wrap_array(np.empty(longest, np.uint8)) for _ in sizes]
    if to is None:
        assert rows is not None
        all_gather(rows, wrap_array(padded), process_group)
    else:
        gather(wrap_array(padded), rows, group=process_group, group_dst=to)
    if rows is None:
        return None
    return [deserialize_array(row.array[: int(size.array[0])]) for row, size in zip(rows, sizes, strict=True)]


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Broadcast the values of the source rank's list to all ranks."""
    process_group = find(group, "broadcast_object_list")
    if process_group is None:
        return
    source = find_group_rank(process_group, 0 if src is None and group_src is None else src, group_src)
    sizes = _sizes(len(object_list))
    data = [serialize_to_array(each) for each in object_list] if process_group.rank() == source else []
    for at, each in enumerate(data):
        sizes.array[at] = each.size
    broadcast(sizes, group=process_group, group_src=source)
    buffer = np.concatenate(data) if data else np.empty(int(sizes.array.sum()), np.uint8)
    broadcast(wrap_array(buffer), group=process_group, group_src=source)
    if process_group.rank() != source:
        object_list[:] = _values(buffer, sizes)


def _values(buffer: Any, sizes: Tensor) -> list[Any]:
    ends = np.cumsum(sizes.array)
    return [deserialize_array(buffer[end - size : end]) for end, size in zip(ends, sizes.array, strict=True)]


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    group_src: int | None = None,
) -> None:
    """Send value i of the source rank to rank i, where it becomes element 0 of the output list."""
    process_group = find(group, "scatter_object_list")
    if process_group is None:
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    source = find_group_rank(process_group, 0 if src is None and group_src is None else src, group_src)
    size, sizes, rows = _sizes(1), None, None
    longest = _sizes(1)
    if process_group.rank() == source:
        if scatter_object_input_list is None or len(scatter_object_input_list) != process_group.size():
            raise ValueError("source rank must provide a list with a value for each process")
        data = [serialize_to_array(each) for each in scatter_object_input_list]
        longest.array[0] = max(each.size for each in data)
        rows = [wrap_array(np.pad(each, (0, int(longest.array[0]) - each.size))) for each in data]
        sizes = [wrap_array(np.array([each.size], np.int64)) for each in data]
    broadcast(longest, group=process_group, group_src=source)
    scatter(size, sizes, group=process_group, group_src=source)
    row = wrap_array(np.empty(int(longest.array[0]), np.uint8))
    scatter(row, rows, group=process_group, group_src=source)
    scatter_object_output_list[0] = deserialize_array(row.array[: int(size.array[0])])


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send the values of a list to one rank."""
    process_group = member_of(group)
    to = process_group.ranks[find_group_rank(process_group, dst, group_dst)]
    data = [serialize_to_array(each) for each in object_list]
    send(wrap_array(np.array([each.size for each in data], np.int64)), to, process_group)
    send(wrap_array(np.concatenate(data)), to, process_group)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: ProcessGroup | None = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive values from rank `src`, or from any rank if `src` is None. Return the rank of the sender."""
    process_group = find(group, "recv_object_list")
    if process_group is None:
        return -1
    source_rank = (
        None
        if src is None and group_src is None
        else process_group.ranks[find_group_rank(process_group, src, group_src)]
    )
    sizes = _sizes(len(object_list))
    rank = recv(sizes, source_rank, process_group)
    buffer = np.empty(int(sizes.array.sum()), np.uint8)
    recv(wrap_array(buffer), rank, process_group)
    object_list[:] = _values(buffer, sizes)
    return rank
