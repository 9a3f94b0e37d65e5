"""Data parallelism by all-reduce of gradient buckets, which overlaps communication with computation.

`DistributedDataParallel` trains a module in several processes:

    model = DistributedDataParallel(net)      # parameters and buffers are those of the first process
    model(x).sum().backward()                 # gradients are the mean over the processes

A bucket contains the gradients of several parameters. The order of buckets is the reverse order of the
parameters. During backward, a bucket is sent when it is complete and all previous buckets were sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Final

import numpy as np

import ts
from ts._core.autograd.engine import queue_callback
from ts._core.tensor.tensor import Tensor, wrap_array
from ts._core.thread.context import is_grad_enabled
from ts.autograd.grad_mode import no_grad
from ts.nn.modules.module import Module
from ts.unsupported import names_for

_FIRST_BUCKET_BYTES: Final = 1 << 20  # bytes of the first bucket: small, so that communication starts early
_UNFINISHED: Final = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error "
    "indicates that your module has parameters that were not used in producing loss. You can enable unused "
    "parameter detection by passing the keyword argument `find_unused_parameters=True` to "
    "`torch.nn.parallel.DistributedDataParallel`. Parameters without a gradient in this process: {}"
)


class _Bucket:
    """Gradient bucket: parameters of one dtype with gradients that are reduced together."""

    def __init__(self, parameters: list[Tensor]) -> None:
        self.parameters = parameters
        self.bounds = np.cumsum([0, *(each.numel() for each in parameters)])
        self.data = wrap_array(np.zeros(int(self.bounds[-1]), parameters[0].dtype.numpy_dtype))
        self.ready: set[int] = set()
        self.work: Any = None

    def is_full(self) -> bool:
        """Return True if the gradients of all parameters in the bucket are computed."""
        return len(self.ready) == len(self.parameters)

    def bucket_views(self) -> Iterator[tuple[Tensor, Any]]:
        """Yield (parameter, slice of the bucket for its gradient) pairs."""
        for each, (start, end) in zip(self.parameters, pairwise(self.bounds), strict=True):
            yield each, self.data.array[start:end].reshape(each.shape)

    def fill(self, size: int) -> None:
        """Copy the gradients, divided by the number of processes, into the bucket."""
        for parameter, bucket_view in self.bucket_views():
            if parameter.grad is None:
                bucket_view[...] = 0
            else:
                np.multiply(parameter.grad.array, bucket_view.dtype.type(1.0 / size), out=bucket_view)


class _Reducer:
    """Gradient bucketing: collects a module's gradients in buckets and reduces them across the processes."""

    def __init__(self, module: DistributedDataParallel, parameters: Sequence[tuple[str, Tensor]]) -> None:
        self.module = module
        self.names = {id(each): name for name, each in parameters}
        self.buckets = _buckets([each for _, each in parameters], module.bucket_bytes_cap)
        self.bucket_of = {id(each): bucket for bucket in self.buckets for each in bucket.parameters}
        self.launched = 0
        self.in_pass = False
        self.expects = False  # False before the first `prepare`: `_ready` ignores gradients
        self.unfinished: list[str] = []
        for _, each in parameters:
            each.register_post_accumulate_grad_hook(self._ready)

    def prepare(self) -> None:
        """Enable gradient synchronization.

        Raise RuntimeError if the last backward pass did not compute the gradients of all parameters.
        """
        if self.unfinished:
            raise RuntimeError(_UNFINISHED.format(", ".join(self.unfinished)))
        self.expects = True

    def _ready(self, parameter: Tensor) -> None:
        """Mark the gradient of `parameter` as computed.

        Start the all-reduce of each bucket that is full, up to the first bucket that is not full.
        """
        if not self.module.require_backward_grad_sync or not self.expects:
            return
        if not self.in_pass:
            self.in_pass, self.launched = True, 0
            for bucket in self.buckets:
                bucket.ready.clear()
            queue_callback(self._finish)
        self.bucket_of[id(parameter)].ready.add(id(parameter))
        while self.launched < len(self.buckets) and self.buckets[self.launched].is_full():
            self._launch()

    def _launch(self) -> None:
        from ts.distributed.collectives import all_reduce

        bucket = self.buckets[self.launched]
        group = self.module.process_group
        bucket.fill(group.size())
        bucket.work = all_reduce(bucket.data, group=group, async_op=True)
        self.launched += 1

    def _finish(self) -> None:
        """Wait for the reductions at the end of backward, and copy the means to `.grad`."""
        self.in_pass = False
        missing = [each for one in self.buckets for each in one.parameters if id(each) not in one.ready]
        unused: set[int] = set()
        if self.module.find_unused_parameters:
            while self.launched < len(self.buckets):
                self._launch()
            unused = self._unused_by_all(missing)
        elif missing:
            self.unfinished = [self.names[id(each)] for each in missing]
        for bucket in self.buckets[: self.launched]:
            bucket.work.wait()
            bucket.work = None
            for parameter, bucket_view in bucket.bucket_views():
                if parameter.grad is not None:
                    with no_grad():
                        parameter.grad.copy_(wrap_array(bucket_view))
                elif id(parameter) not in unused:
                    parameter.grad = wrap_array(bucket_view.copy())

    def _unused_by_all(self, missing: list[Tensor]) -> set[int]:
        """Return the ids of the parameters that have no gradient in any of the processes.

        `missing` contains the parameters without a gradient in this process.
        """
        from ts.distributed.collectives import all_reduce
        from ts.distributed.reduce_op import ReduceOp

        every = [each for bucket in self.buckets for each in bucket.parameters]
        local_unused = {id(each) for each in missing}
        is_used = wrap_array(np.array([id(each) not in local_unused for each in every], np.uint8))
        all_reduce(is_used, ReduceOp.MAX, self.module.process_group)
        return {id(each) for each, by_some in zip(every, is_used.array, strict=True) if not by_some}


def _buckets(parameters: list[Tensor], max_bytes: int) -> list[_Bucket]:
    """Group parameters, from last to first, into buckets of one dtype and at least `max_bytes` bytes.

    For the first bucket, the limit is `_FIRST_BUCKET_BYTES` bytes if this is less. The last buckets may be
    smaller.
    """
    buckets: list[_Bucket] = []
    open_ones: dict[Any, list[Tensor]] = {}
    for each in reversed(parameters):
        bucket = open_ones.setdefault(each.dtype, [])
        bucket.append(each)
        limit = max_bytes if buckets else min(max_bytes, _FIRST_BUCKET_BYTES)
        if sum(one.numel() for one in bucket) * each.dtype.itemsize >= limit:
            buckets.append(_Bucket(open_ones.pop(each.dtype)))
    return buckets + [_Bucket(each) for each in open_ones.values()]


class DistributedDataParallel(Module):
    """Wrapper of a module with gradient averaging over all processes."""

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
    ) -> None:
        from ts.distributed.groups import find

        super().__init__()
        group = find(process_group, "DistributedDataParallel")
        if group is None:
            raise RuntimeError("DistributedDataParallel needs a process group that this process is in")
        ignored = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        named_parameters = [(name, each) for name, each in module.named_parameters() if name not in ignored]
        trainable = [(name, each) for name, each in named_parameters if each.requires_grad]
        if not trainable:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that "
                "requires a gradient."
            )
        devices = {each.device for _, each in named_parameters}
        if device_ids or output_device is not None or any(each.type != "cpu" for each in devices):
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with "
                "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
                f"{device_ids}, output_device {output_device}, and module parameters {devices}."
            )
        self.module = module
        self.process_group = group
        self.device_ids = None
        self.output_device = None
        self.dim = dim
        self.device = next(iter(devices))
        self.device_type = "cpu"
        self.broadcast_buffers = broadcast_buffers is None or broadcast_buffers
        self.find_unused_parameters = find_unused_parameters or static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.parameters_to_ignore = ignored
        self.require_backward_grad_sync = True
        self.require_forward_param_sync = True
        self.bucket_bytes_cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * (1 << 20))
        if init_sync:
            _check_same(named_parameters, group)
            self._broadcast([each for _, each in named_parameters] + self.modules_buffers)
        self.reducer = _Reducer(self, trainable)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return the module's result."""
        if is_grad_enabled() and self.require_backward_grad_sync:
            self.reducer.prepare()
        if self.require_forward_param_sync and self.broadcast_buffers:
            self._broadcast(self.modules_buffers)
        result = self.module(*inputs, **kwargs)
        self.require_forward_param_sync = not is_grad_enabled() or self.require_backward_grad_sync
        return result

    @property
    def modules_buffers(self) -> list[Tensor]:
        """Buffers broadcast from rank 0 to all processes."""
        return [each for name, each in self.module.named_buffers() if name not in self.parameters_to_ignore]

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Context manager in which each process accumulates gradients without a reduction.

        The next backward pass outside of the context reduces the accumulated gradients.
        """
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def join(self, *args: Any, **kwargs: Any) -> Any:
        """Raise NotImplementedError: uneven inputs are unsupported."""
        raise NotImplementedError("join is not supported: all processes must run the same number of batches")

    def register_comm_hook(self, state: object, hook: Any) -> None:
        """Raise NotImplementedError: custom communication hooks are unsupported."""
        raise NotImplementedError("register_comm_hook is not supported: gradients are sent unchanged")

    def _broadcast(self, tensors: Iterable[Tensor]) -> None:
        """Copy the tensors of the first process to all processes. Tensors of one dtype are sent together."""
        from ts.distributed.collectives import broadcast

        by_dtype: dict[Any, list[Tensor]] = {}
        for each in tensors:
            by_dtype.setdefault(each.dtype, []).append(each)
        group = self.process_group
        for dtype, each_of in by_dtype.items():
            flat = np.concatenate([each.detach().array.reshape(-1) for each in each_of])
            broadcast(wrap_array(flat.view(dtype.numpy_dtype)), group=group, group_src=0)
            if group.rank() == 0:
                continue
            bounds = np.cumsum([0, *(each.numel() for each in each_of)])
            with no_grad():
                for each, (start, end) in zip(each_of, pairwise(bounds), strict=True):
                    each.copy_(wrap_array(flat[start:end].reshape(each.shape)))


def _check_same(named_parameters: Sequence[tuple[str, Tensor]], group: Any) -> None:
    """Raise RuntimeError if the processes have different parameters."""
    signatures_by_rank: list[Any] = [None] * group.size()
    ts.distributed.all_gather_object(
        signatures_by_rank,
        [(name, list(each.shape), each.dtype.name) for name, each in named_parameters],
        group,
    )
    for rank, signatures in enumerate(signatures_by_rank):
        if len(signatures) != len(signatures_by_rank[0]):
            raise RuntimeError(
                f"DDP expects same model across all ranks, but Rank {rank} has {len(signatures)} params, "
                "while "
                f"rank 0 has inconsistent {len(signatures_by_rank[0])} params."
            )
        for index, (expected, actual) in enumerate(zip(signatures_by_rank[0], signatures, strict=True)):
            if expected[1:] != actual[1:]:
                raise RuntimeError(
                    f"DDP expects same model across all ranks: params[{index}], {actual[0]}, has sizes "
                    f"{actual[1]} and dtype {actual[2]} in process {rank}, and sizes {expected[1]} and dtype "
                    f"{expected[2]} in process 0"
                )


__all__ = ["DistributedDataParallel"]
__getattr__ = names_for(__name__)
