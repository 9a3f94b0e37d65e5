"""Copies between GPUs with gradients: `Broadcast`, `ReduceAddCoalesced`, `Gather`, `Scatter`."""

from __future__ import annotations

import warnings
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts.autograd.function import Function
from ts.cuda import comm
from ts.cuda._utils import gpu_index


def _require_gpu_tensors(inputs: Any, name: str) -> None:
    if not all(x.device.type != "cpu" for x in inputs):
        raise AssertionError(f"{name} function not implemented for CPU tensors")


class Broadcast(Function):
    """Copy tensors to GPUs. The gradient is the sum of the gradients of the copies."""

    @staticmethod
    def forward(ctx: Any, target_gpus: Any, *inputs: Tensor) -> Any:
        """Return copies of all inputs, ordered by device."""
        _require_gpu_tensors(inputs, "Broadcast")
        target_gpus = [gpu_index(x) for x in target_gpus]
        ctx.target_gpus = target_gpus
        if not inputs:
            return ()
        ctx.num_inputs = len(inputs)
        ctx.input_device = inputs[0].get_device()
        outputs = comm.broadcast_coalesced(inputs, target_gpus)
        constant = [i for i in range(len(inputs)) if not ctx.needs_input_grad[i + 1]]
        ctx.mark_non_differentiable(*(row[i] for i in constant for row in outputs))
        return tuple(x for row in outputs for x in row)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the sums of the gradients of the copies."""
        return (None, *ReduceAddCoalesced.apply(ctx.input_device, ctx.num_inputs, *grad_outputs))


class ReduceAddCoalesced(Function):
    """Add tensors of several GPUs. The gradient is copied to each GPU."""

    @staticmethod
    def forward(ctx: Any, destination: Any, num_inputs: int, *grads: Tensor) -> Any:
        """Split `grads` into groups of `num_inputs` tensors, and add the groups tensor by tensor.

        Each group is on one GPU. The sums are on GPU `destination`.
        """
        ctx.target_gpus = [grads[i].get_device() for i in range(0, len(grads), num_inputs)]
        groups = [grads[i : i + num_inputs] for i in range(0, len(grads), num_inputs)]
        return comm.reduce_add_coalesced(groups, destination)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return copies of the gradients for each GPU."""
        return (None, None, *Broadcast.apply(ctx.target_gpus, *grad_outputs))


class Gather(Function):
    """Concatenate tensors of several GPUs on one device. The gradient is split among the GPUs."""

    @staticmethod
    def forward(ctx: Any, target_device: Any, dim: int, *inputs: Tensor) -> Tensor:
        """Return the concatenation of `inputs`. If they are 0-d tensors, warn and return a vector of them."""
        _require_gpu_tensors(inputs, "Gather")
        ctx.target_device = target_device if target_device == "cpu" else gpu_index(target_device)
        ctx.dim = dim
        ctx.input_gpus = tuple(x.get_device() for x in inputs)
        ctx.unsqueezed_scalar = dim == 0 and all(x.dim() == 0 for x in inputs)
        if ctx.unsqueezed_scalar:
            inputs = tuple(x.view(1) for x in inputs)
            warnings.warn(
                "Was asked to gather along dimension 0, but all input tensors were scalars; will instead "
                "unsqueeze and return a vector.",
                stacklevel=2,
            )
        ctx.input_sizes = tuple(x.size(dim) for x in inputs)
        return comm.gather(inputs, dim, ctx.target_device)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Split the gradient among the GPUs of the inputs."""
        grads = Scatter.apply(ctx.input_gpus, ctx.input_sizes, ctx.dim, grad_outputs[0])
        if ctx.unsqueezed_scalar:
            grads = tuple(g[0] for g in grads)
        return (None, None, *grads)


class Scatter(Function):
    """Split a tensor among GPUs. The gradient is the concatenation of the parts' gradients."""

    @staticmethod
    def forward(ctx: Any, target_gpus: Any, chunk_sizes: Any, dim: int, input: Tensor) -> Any:
        """Split the input along `dim` into one part for each target GPU, and copy each part to its GPU."""
        target_gpus = [gpu_index(x) for x in target_gpus]
        ctx.dim = dim
        ctx.input_device = input.get_device() if input.device.type != "cpu" else -1
        return comm.scatter(input, target_gpus, chunk_sizes, dim)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the concatenation of the gradients."""
        return None, None, None, Gather.apply(ctx.input_device, ctx.dim, *grad_outputs)


def _get_stream(device: Any) -> Any:
    """Return None, because copies to a device run on the current stream."""
    ts.device(device)
    return None
