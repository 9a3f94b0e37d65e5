"""Collective operations on tensors over the ranks of a process group, under PyTorch's names.

In the example, x becomes the sum over all ranks. The asynchronous call returns at once:

    all_reduce(x)
    work = all_reduce(x, async_op=True)
    work.wait()

All ranks must call the same function with tensors of equal dtype and size. Otherwise, the function raises an
error in all ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import layer_of
from ts.distributed import collective_algorithms as algorithms
from ts.distributed.collective_call import CollectiveCall, memory_of
from ts.distributed.groups import ProcessGroup, find, find_group_rank
from ts.distributed.reduce_op import ReduceOp, check_op
from ts.distributed.work import Collective, Work


def check_tensor(tensor: Any, name: str) -> None:
    """Raise TypeError if the argument `name` is not a tensor, RuntimeError if its memory cannot be sent."""
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {type(tensor)} instead."
        )
    if tensor.device.type != "cpu":
        raise RuntimeError(f"No backend type associated with device type {tensor.device.type}")
    layer = layer_of(tensor)
    if layer is not None:
        layer.check_elements()


def check_tensors(tensors: Any, name: str) -> None:
    """Check that `tensors` is a list or tuple of tensors that collectives accept."""
    if not isinstance(tensors, (list, tuple)) or not all(isinstance(each, Tensor) for each in tensors):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(tensors)} with elements of type "
            f"{[type(each) for each in tensors] if isinstance(tensors, (list, tuple)) else []}."
        )
    for each in tensors:
        check_tensor(each, name)


def _same_dtype(*tensors: Tensor) -> None:
    first = tensors[0].dtype
    for each in tensors:
        if each.dtype != first:
            raise ValueError(f"Invalid usage of tensors with different dtypesFound {first} and  {each.dtype}")


class _FlatBuffers:
    """Flat arrays with the elements of tensors. Contiguous tensors are not copied."""

    def __init__(self) -> None:
        self._copies: list[tuple[Any, Any]] = []

    def read(self, tensor: Tensor) -> Any:
        """Return the elements of a tensor as a flat array, which the collective only reads."""
        return np.ascontiguousarray(tensor.detach().array).reshape(-1)

    def write(self, tensor: Tensor) -> Any:
        """Return a flat array into which a collective writes the results for a tensor.

        If the tensor is not contiguous, `copy_results` later copies the results to the tensor.
        """
        array = tensor.detach().array
        if array.flags.c_contiguous:
            return array.reshape(-1)
        flat = np.ascontiguousarray(array)
        self._copies.append((array, flat))
        return flat.reshape(-1)

    def copy_results(self) -> None:
        """Copy the results to the tensors for which `write` returned a copy."""
        for array, flat in self._copies:
            np.copyto(array, flat)


class _Operation(_FlatBuffers):
    """Collective operation of a group in this rank, with the flat arrays of its tensors."""

    def __init__(self, group: ProcessGroup, function: str) -> None:
        super().__init__()
        self.group, self._function = group, function

    def run(
        self,
        tensor: Tensor | None,
        async_op: bool,
        result: Any,
        algorithm: Callable[..., None],
        *arguments: Any,
        op: ReduceOp | None = None,
        timeout: timedelta | None = None,
    ) -> Work | None:
        """Run `algorithm(call, *arguments)` as a collective call. Return its handle if `async_op`."""
        seconds = None if timeout is None else timeout.total_seconds()

        def make() -> CollectiveCall:
            return CollectiveCall(self.group, self._function, tensor, op, seconds)

        def body(call: CollectiveCall) -> None:
            algorithm(call, *arguments)
            self.copy_results()

        if async_op:
            return Collective(self.group.queue.start(make, body), result)
        self.group.queue.run(make, body)
        return None


def _begin(group: ProcessGroup | None, name: str, function: str | None = None) -> _Operation | None:
    """Return the operation for a call of the public function `name`.

    The ranks compare their calls by `function` (default: `name`). If this process is not a member of the
    group, warn and return None.
    """
    process_group = find(group, name, stacklevel=4)
    return None if process_group is None else _Operation(process_group, function or name)


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Reduce `tensor` across all ranks in place. Every rank receives the result."""
    check_tensor(tensor, "tensor")
    operation = _begin(group, "all_reduce")
    if operation is None:
        return None
    reduction = check_op(op, tensor, "all_reduce")
    array = operation.write(tensor)
    return operation.run(tensor, async_op, [tensor], algorithms.all_reduce, array, reduction, op=reduction)


def all_reduce_coalesced(
    tensors: Sequence[Tensor],
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce several tensors of one dtype across all ranks in place, in one call."""
    check_tensors(tensors, "tensor")
    _same_dtype(*tensors)
    operation = _begin(group, "all_reduce_coalesced")
    if operation is None:
        return None
    reduction = check_op(op, tensors[0], "all_reduce_coalesced")
    arrays = [operation.write(each) for each in tensors]

    def reduce_each(call: CollectiveCall) -> None:
        for each in arrays:
            algorithms.all_reduce(call, each, reduction)

    result = list(tensors)
    return operation.run(tensors[0], async_op, result, reduce_each, op=reduction)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce `tensor` across all ranks into the tensor of the destination rank."""
    check_tensor(tensor, "tensor")
    operation = _begin(group, "reduce")
    if operation is None:
        return None
    to = find_group_rank(operation.group, dst, group_dst)
    reduction = check_op(op, tensor, "reduce")
    array = operation.write(tensor) if operation.group.rank() == to else operation.read(tensor)
    return operation.run(tensor, async_op, [tensor], algorithms.reduce, array, reduction, to, op=reduction)


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Send the tensor of rank `src` to all other ranks, which store it in their `tensor`."""
    check_tensor(tensor, "tensor")
    operation = _begin(group, "broadcast")
    if operation is None:
        return None
    source = find_group_rank(operation.group, src, group_src)
    flatten = operation.read if operation.group.rank() == source else operation.write
    memory = memory_of(flatten(tensor))
    return operation.run(tensor, async_op, [tensor], algorithms.broadcast, memory, source)


def _check_gathered(tensors: Sequence[Tensor], tensor: Tensor, size: int, name: str) -> None:
    if len(tensors) != size:
        raise RuntimeError(
            f"ProcessGroupGloo::{name}: invalid output tensor list at index 0 (expected length {size}, got "
            f"{len(tensors)})"
        )
    for at, each in enumerate(tensors):
        if each.shape != tensor.shape:
            expected_shape, actual_shape = (
                "(" + ", ".join(map(str, shape)) + ")" for shape in (tensor.shape, each.shape)
            )
            raise RuntimeError(
                f"ProcessGroupGloo::{name}: invalid tensor size at index {at} (expected "
                f"{expected_shape}, got {actual_shape})"
            )


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Gather the tensors of all ranks into a list on every rank."""
    check_tensors(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    _same_dtype(tensor, *tensor_list)
    operation = _begin(group, "all_gather")
    if operation is None:
        return None
    _check_gathered(tensor_list, tensor, operation.group.size(), "allgather")
    own_memory = memory_of(operation.read(tensor))
    outputs = [memory_of(operation.write(each)) for each in tensor_list]
    return operation.run(tensor, async_op, [tensor_list], algorithms.all_gather, own_memory, outputs)


def all_gather_coalesced(
    output_tensor_lists: list[list[Tensor]],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Gather several tensors of each rank. `output_tensor_lists` has one list per rank."""
    check_tensors(input_tensor_list, "tensor_list")
    operation = _begin(group, "all_gather_coalesced")
    if operation is None:
        return None
    own_memories = [memory_of(operation.read(each)) for each in input_tensor_list]
    for each in output_tensor_lists:
        check_tensors(each, "output_tensor_lists")
    rows = [[memory_of(operation.write(each)) for each in row] for row in output_tensor_lists]

    def gather_each(call: CollectiveCall) -> None:
        for each, outputs in zip(own_memories, zip(*rows, strict=True), strict=True):
            algorithms.all_gather(call, each, outputs)

    first, result = input_tensor_list[0], output_tensor_lists
    return operation.run(first, async_op, result, gather_each)


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Gather the tensors of all ranks in `output_tensor`.

    The shape of `output_tensor` is that of the gathered tensors after `cat` or after `stack`.
    """
    check_tensor(output_tensor, "output_tensor")
    check_tensor(input_tensor, "input_tensor")
    operation = _begin(group, "all_gather_into_tensor", "all_gather")
    if operation is None:
        return None
    if output_tensor.dtype != input_tensor.dtype:
        raise RuntimeError(
            "ProcessGroupGloo::allgather: invalid tensor type at index 0 (expected "
            f"{input_tensor.dtype}, got {output_tensor.dtype})"
        )
    if output_tensor.numel() != input_tensor.numel() * operation.group.size():
        raise RuntimeError(
            f"output tensor size must be equal to world_size times input tensor size: found "
            f"{output_tensor.numel()} elements for {operation.group.size()} times {input_tensor.numel()}"
        )
    own_memory, output = memory_of(operation.read(input_tensor)), memory_of(operation.write(output_tensor))
    outputs = _split(output, [len(own_memory)] * operation.group.size())
    return operation.run(input_tensor, async_op, [output_tensor], algorithms.all_gather, own_memory, outputs)


def _split(memory: Any, sizes: Sequence[int]) -> list[Any]:
    ends = [sum(sizes[: at + 1]) for at in range(len(sizes))]
    return [memory[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def _check_list(
    process_group: ProcessGroup,
    name: str,
    tensor: Tensor,
    tensors: list[Tensor] | None,
    kind: str,
    side: str,
    root: int,
) -> None:
    """Raise an error unless the rank `root` passes a list with one tensor per rank, and others pass none.

    `name`, `kind` and `side` are words of error messages, such as "gather", "output" and "destination".
    """
    if process_group.rank() != root:
        if tensors:
            raise ValueError(f"Argument ``{name}_list`` must NOT be specified on non-{side} ranks.")
        return
    if not tensors:
        raise ValueError(f"Argument ``{name}_list`` must be specified on {side} rank.")
    if len(tensors) != process_group.size():
        raise RuntimeError(
            f"ProcessGroupGloo::{name}: Incorrect {kind} list size {len(tensors)}. {kind.capitalize()} list "
            f"size should be {process_group.size()}, same as size of the process group."
        )
    _check_gathered(tensors, tensor, process_group.size(), name)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Gather the tensors of all ranks into a list on rank `dst`."""
    check_tensor(tensor, "tensor")
    if gather_list:
        check_tensors(gather_list, "gather_list")
        _same_dtype(tensor, *gather_list)
    operation = _begin(group, "gather")
    if operation is None:
        return None
    to = find_group_rank(operation.group, 0 if dst is None and group_dst is None else dst, group_dst)
    _check_list(operation.group, "gather", tensor, gather_list, "output", "destination", to)
    outputs = [memory_of(operation.write(each)) for each in gather_list] if gather_list else None
    own_memory = memory_of(operation.read(tensor))
    return operation.run(tensor, async_op, [gather_list or []], algorithms.gather, own_memory, outputs, to)


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Scatter the tensors of the source rank's list, one to each rank."""
    check_tensor(tensor, "tensor")
    if scatter_list:
        check_tensors(scatter_list, "scatter_list")
        _same_dtype(tensor, *scatter_list)
    operation = _begin(group, "scatter")
    if operation is None:
        return None
    source = find_group_rank(operation.group, 0 if src is None and group_src is None else src, group_src)
    _check_list(operation.group, "scatter", tensor, scatter_list, "input", "source", source)
    inputs = [memory_of(operation.read(each)) for each in scatter_list] if scatter_list else None
    output = memory_of(operation.write(tensor))
    return operation.run(tensor, async_op, [tensor], algorithms.scatter, inputs, output, source)


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce lists of tensors across all ranks. Rank i receives the i-th result (reduce-scatter)."""
    check_tensor(output, "output")
    check_tensors(input_list, "input_list")
    _same_dtype(output, *input_list)
    operation = _begin(group, "reduce_scatter")
    if operation is None:
        return None
    if len(input_list) != operation.group.size():
        raise RuntimeError("invalid input tensor list size, must be world size")
    for at, each in enumerate(input_list):
        if each.numel() != output.numel():
            raise RuntimeError(
                f"reduce_scatter: input {at} has {each.numel()} elements, expected {output.numel()} "
                "like the output"
            )
    return _reduce_scatter(output, [operation.read(each) for each in input_list], op, operation, async_op)


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce `input` across all ranks and scatter equal parts of the result, one to each rank."""
    check_tensor(output, "output")
    check_tensor(input, "input")
    _same_dtype(output, input)
    operation = _begin(group, "reduce_scatter_tensor", "reduce_scatter")
    if operation is None:
        return None
    if output.numel() * operation.group.size() != input.numel():
        raise RuntimeError(
            f"input tensor must be the same size as output size times world size: found {input.numel()} "
            f"elements for {operation.group.size()} times {output.numel()}"
        )
    chunks = _split(operation.read(input), [output.numel()] * operation.group.size())
    return _reduce_scatter(output, chunks, op, operation, async_op)


def _reduce_scatter(
    output: Tensor, chunks: list[Any], op: Any, operation: _Operation, async_op: bool
) -> Work | None:
    reduction = check_op(op, output, "reduce_scatter")
    array = operation.write(output)

    arguments = [output], algorithms.reduce_scatter, chunks, array, reduction
    return operation.run(output, async_op, *arguments, op=reduction)


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Send input tensor i to rank i and receive output tensor i from rank i (all-to-all)."""
    check_tensors(output_tensor_list, "output_tensor_list")
    check_tensors(input_tensor_list, "input_tensor_list")
    _same_dtype(*output_tensor_list, *input_tensor_list)
    operation = _begin(group, "all_to_all")
    if operation is None:
        return None
    for argument_name, tensors in (("input", input_tensor_list), ("output", output_tensor_list)):
        if len(tensors) != operation.group.size():
            raise RuntimeError(
                f"ProcessGroupGloo::alltoall: {argument_name} tensor list size {len(tensors)} does not match "
                f"world size {operation.group.size()}"
            )
    inputs = [memory_of(operation.read(each)) for each in input_tensor_list]
    outputs = [memory_of(operation.write(each)) for each in output_tensor_list]
    return _all_to_all(inputs, outputs, operation, async_op, output_tensor_list)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Exchange parts of one tensor, split along dimension 0, between all ranks.

    Without split sizes, all parts have equal size.
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    _same_dtype(output, input)
    operation = _begin(group, "all_to_all_single", "all_to_all")
    if operation is None:
        return None
    inputs = _split(
        memory_of(operation.read(input)), _row_bytes(input, input_split_sizes, operation.group.size())
    )
    outputs = _split(
        memory_of(operation.write(output)), _row_bytes(output, output_split_sizes, operation.group.size())
    )
    return _all_to_all(inputs, outputs, operation, async_op, [output])


def _row_bytes(tensor: Tensor, sizes: Sequence[int] | None, count: int) -> list[int]:
    rows = tensor.size(0) if tensor.dim() else 1
    if not sizes:
        if rows % count:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        sizes = [rows // count] * count
    elif len(sizes) != count:
        raise RuntimeError("Number of tensor splits not equal to group size")
    elif sum(sizes) != rows:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    step = tensor.numel() * tensor.dtype.itemsize // max(rows, 1)
    return [each * step for each in sizes]


def _all_to_all(
    inputs: list[Any], outputs: list[Any], operation: _Operation, async_op: bool, result: list[Tensor]
) -> Work | None:
    def exchange(call: CollectiveCall) -> None:
        # Ranks compare the labels, but may have different numbers of elements.
        call.label = call.label._replace(elements=0)
        algorithms.all_to_all(call, inputs, outputs)

    return operation.run(result[0], async_op, result, exchange)


def barrier(
    group: ProcessGroup | None = None,
    async_op: bool = False,
    device_ids: Any = None,
    timeout: timedelta | None = None,
) -> Work | None:
    """Wait until all ranks have called this function."""
    operation = _begin(group, "barrier")
    if operation is None:
        return None
    return operation.run(None, async_op, [], algorithms.barrier, timeout=timeout)


def monitored_barrier(
    group: ProcessGroup | None = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """Wait for all ranks of a group (monitored barrier).

    If a rank is missing, rank 0 raises an error that names this rank. With `wait_all_ranks`, the error names
    all missing ranks.
    """
    operation = _begin(group, "monitored_barrier")
    if operation is not None:
        operation.run(None, False, [], algorithms.monitored_barrier, wait_all_ranks, timeout=timeout)


all_gather_single = all_gather_into_tensor
reduce_scatter_single = reduce_scatter_tensor
