"""Collective algorithms (allreduce, reduce-scatter, allgather, all-to-all, barrier) by messages of each rank.

Arrays are flat and contiguous. In the example, the array becomes the sum of the arrays of all ranks:

    all_reduce(call, array, ReduceOp.SUM)

A short array is sent to all ranks, and each rank computes the result. For a longer array, each rank reduces
one part, and sends the result to all other ranks. Parts are sent in chunks: one chunk is reduced while the
next chunk is in transit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from ts.distributed.collective_call import CollectiveCall, memory_of
from ts.distributed.errors import DistBackendError, DistError
from ts.distributed.peer_links import Request
from ts.distributed.reduce_op import ReduceOp, accumulate

# Up to this size, each rank sends its whole array to every other rank. Each rank reduces one part of a larger
# array.
SHORT_MESSAGE_BYTES: Final = 1 << 14
CHUNK_BYTES: Final = 1 << 19  # size of the chunks in which larger arrays are sent and reduced
_NOTHING: Final = memoryview(b"")


def all_reduce(call: CollectiveCall, array: Any, op: ReduceOp) -> None:
    """Reduce the arrays of all ranks in place. Every rank gets the result."""
    if call.size == 1:
        return accumulate(op, [array], array)
    if array.nbytes <= SHORT_MESSAGE_BYTES:
        return _all_reduce_short(call, array, op)
    _reduce_partition(call, array, op, range(call.size))


def reduce(call: CollectiveCall, array: Any, op: ReduceOp, to: int) -> None:
    """Reduce the arrays of all ranks into the array of rank `to`. Other ranks keep their arrays."""
    if array.nbytes > SHORT_MESSAGE_BYTES or call.size == 1:
        return _reduce_partition(call, array, op, [to])
    if call.rank != to:
        return call.wait([call.send(to, memory_of(array))])
    came = call.workspace(array.size * call.size, array.dtype).reshape(call.size, -1)
    call.wait([call.receive(each, memory_of(came[each])) for each in call.others])
    accumulate(op, [array if each == to else came[each] for each in range(call.size)], array)


def _all_reduce_short(call: CollectiveCall, array: Any, op: ReduceOp) -> None:
    came = call.workspace(array.size * call.size, array.dtype).reshape(call.size, -1)
    requests = [call.receive(each, memory_of(came[each])) for each in call.others]
    memory = memory_of(array)
    requests += [call.send(each, memory) for each in call.others]
    call.wait(requests)
    accumulate(op, [array if each == call.rank else came[each] for each in range(call.size)], array)


def _reduce_partition(call: CollectiveCall, array: Any, op: ReduceOp, to: Sequence[int]) -> None:
    """Reduce the arrays of all ranks into `array` of the ranks `to`. Each rank reduces one part (1/n).

    This rank sends the other parts to their ranks, and the result of its part to the ranks `to`.
    """
    size, rank = call.size, call.rank
    bounds = [array.size * each // size for each in range(size + 1)]
    partitions = [array[bounds[each] : bounds[each + 1]] for each in range(size)]
    keeps = rank in to
    own_result = partitions[rank] if keeps else np.empty_like(partitions[rank])
    sent = _send_chunks(call, partitions)
    rows, receives = _expect(call, partitions[rank])
    expected: list[Request] = []
    if keeps:
        for each in call.others:
            expected += [call.receive(each, memory_of(chunk)) for chunk in _chunks(partitions[each])]
    for chunk in _reduced(call, rows, receives, partitions[rank], own_result, op):
        expected += [call.send(each, memory_of(chunk)) for each in to if each != rank]
    call.wait([*sent, *expected])


def reduce_scatter(call: CollectiveCall, inputs: Sequence[Any], output: Any, op: ReduceOp) -> None:
    """Reduce `inputs` across all ranks. Rank i receives the reduction of input i in `output`."""
    sent = _send_chunks(call, inputs)
    rows, receives = _expect(call, output)
    for _ in _reduced(call, rows, receives, inputs[call.rank], output, op):
        pass
    call.wait(sent)


def _send_chunks(call: CollectiveCall, partitions: Sequence[Any]) -> list[Request]:
    """Start to send part i to rank i in chunks (pipelining), and return the requests.

    The part for the rank that follows this rank is sent first, so that ranks do not all send to the same rank
    at once.
    """
    order = [(call.rank + step) % call.size for step in range(1, call.size)]
    return [call.send(each, memory_of(chunk)) for each in order for chunk in _chunks(partitions[each])]


def _expect(call: CollectiveCall, own_array: Any) -> tuple[Any, list[list[Request]]]:
    """Start to receive, from each other rank, the part of that rank's array that corresponds to `own_array`.

    Return (buffer with one row per other rank, list with the requests for the chunks of each row).
    """
    rows = call.workspace(own_array.size * (call.size - 1), own_array.dtype).reshape(call.size - 1, -1)
    receives = [
        [call.receive(each, memory_of(chunk)) for chunk in _chunks(rows[at])]
        for at, each in enumerate(call.others)
    ]
    return rows, receives


def _reduced(
    call: CollectiveCall, rows: Any, receives: list[list[Request]], own_array: Any, out: Any, op: ReduceOp
) -> Iterator[Any]:
    """Reduce `own_array` and the received `rows` into `out`. Yield each chunk of `out` when it is done."""
    results = _chunks(out)
    own_chunks = results if own_array is out else _chunks(own_array)
    chunks = [_chunks(row) for row in rows]
    for at, result in enumerate(results):
        call.wait([each[at] for each in receives])
        arrays = [each[at] for each in chunks]
        arrays.insert(call.rank, own_chunks[at])
        accumulate(op, arrays, result)
        yield result


def _chunks(array: Any) -> list[Any]:
    step = CHUNK_BYTES // array.itemsize
    return [array[at : at + step] for at in range(0, array.size, step)]


def broadcast(call: CollectiveCall, memory: memoryview, source: int) -> None:
    """Broadcast the memory of rank `source` to all ranks."""
    if call.rank == source:
        call.wait([call.send(each, memory) for each in call.others])
    else:
        call.wait([call.receive(source, memory)])


def all_gather(call: CollectiveCall, own_memory: memoryview, outputs: Sequence[memoryview]) -> None:
    """Copy the memory of each rank to the outputs of all ranks."""
    requests = [call.receive(each, outputs[each]) for each in call.others]
    requests += [call.send((call.rank + step) % call.size, own_memory) for step in range(1, call.size)]
    _copy(own_memory, outputs[call.rank])
    call.wait(requests)


def gather(
    call: CollectiveCall, own_memory: memoryview, outputs: Sequence[memoryview] | None, to: int
) -> None:
    """Copy the memory of each rank to the `outputs` of rank `to`."""
    if outputs is None:
        return call.wait([call.send(to, own_memory)])
    _copy(own_memory, outputs[call.rank])
    call.wait([call.receive(each, outputs[each]) for each in call.others])


def scatter(
    call: CollectiveCall, inputs: Sequence[memoryview] | None, output: memoryview, source: int
) -> None:
    """Copy input i of the rank `source` to the output of rank i."""
    if inputs is None:
        return call.wait([call.receive(source, output)])
    sent = [call.send(each, inputs[each]) for each in call.others]
    _copy(inputs[call.rank], output)
    call.wait(sent)


def all_to_all(call: CollectiveCall, inputs: Sequence[memoryview], outputs: Sequence[memoryview]) -> None:
    """Send input i to rank i and receive output i from rank i (all-to-all)."""
    requests = [call.receive(each, outputs[each]) for each in call.others]
    order = [(call.rank + step) % call.size for step in range(1, call.size)]
    requests += [call.send(each, inputs[each]) for each in order]
    _copy(inputs[call.rank], outputs[call.rank])
    call.wait(requests)


def barrier(call: CollectiveCall) -> None:
    """Wait until all ranks have entered the barrier."""
    requests = [call.receive(each, _NOTHING) for each in call.others]
    call.wait([*requests, *(call.send(each, _NOTHING) for each in call.others)])


def _copy(source: memoryview, target: memoryview) -> None:
    if len(source) != len(target):
        raise RuntimeError(f"cannot copy {len(source)} bytes to a buffer of {len(target)} bytes")
    if len(source):
        np.copyto(np.frombuffer(target, np.uint8), np.frombuffer(source, np.uint8))


def monitored_barrier(call: CollectiveCall, all_of_them: bool) -> None:
    """Run a barrier: rank 0 waits for a message from every rank, then releases all ranks.

    If ranks are missing, rank 0 raises a DistBackendError instead. The error names the first missing rank, or
    all missing ranks if `all_of_them` is set.
    """
    if call.rank:
        call.wait([call.send(0, _NOTHING)])
        return call.wait([call.receive(0, _NOTHING)])
    waiting = [call.receive(each, _NOTHING) for each in call.others]
    missing: list[int] = []
    for each, request in zip(call.others, waiting, strict=True):
        try:
            call.wait([request])
        except DistError:
            missing.append(each)
            if not all_of_them:
                break
    if missing:
        missing_ranks = f"Ranks {', '.join(map(str, missing))}" if all_of_them else f"Rank {missing[0]}"
        raise DistBackendError(
            f"[Rank 0]: {missing_ranks} failed to pass monitoredBarrier in {call.timeout * 1000:.0f} ms"
        )
    call.wait([call.send(each, _NOTHING) for each in call.others])
