"""Batching rules of convolutions and pooling, which merge the batch with an existing dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.autograd.backward import grad as autograd_grad
from ts._core.dispatch_layers.batched_tensor import Call
from ts._core.dispatch_layers.level_stack import require_grad_at_level
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import detached
from ts._core.thread.context import GradMode, is_grad_enabled
from ts.ops.vmap_rules.rule_registry import batch
from ts.ops.vmap_rules.rules import run_in_loop


def merge_batch(x: Tensor) -> Any:
    """Merge the batch dimension with the next dimension of `x`."""
    return x.reshape([x.shape[0] * x.shape[1], *x.shape[2:]])


def split_batch(x: Tensor, size: int, dim: int = 0) -> Any:
    """Split dimension `dim` of `x` into a batch dimension of `size` and the rest. Move the batch first."""
    return x.unflatten(dim, [size, x.shape[dim] // size if size else 0]).movedim(dim, 0)


def over_planes(spatial: int, *sizes: str) -> Callable[[Call], Any]:
    """Return the batching rule of an operator on inputs (N, C, *spatial) or (C, *spatial).

    spatial   number of spatial dimensions
    sizes     names of the arguments that contain the sizes of the operator's input
    """

    def rule(call: Call) -> Any:
        values = list(call.values)
        tensors = [i for i, x in enumerate(values) if isinstance(x, Tensor)]
        # the input of a batch element is (C, *spatial), so the batch dimension of vmap serves as dimension N
        if call.rank(tensors[0]) == spatial + 1:
            for i in tensors:
                values[i] = call.expanded(i)
            for name in sizes:
                values[call.at(name)] = [call.size, *call[name]]
            return call.run(values)
        for i in tensors:
            values[i] = merge_batch(call.expanded(i))
        for name in sizes:
            values[call.at(name)] = [call.size * call[name][0], *call[name][1:]]
        result = call.run(values)
        if isinstance(result, Tensor):
            return split_batch(result, call.size)
        outputs = [split_batch(x, call.size) for x in result]
        return outputs if type(result) is list else type(result)(outputs)

    return rule


# ---------------------------------------------------------------- convolutions


def convolve(
    input: Tensor, of_input: bool, weight: Tensor, of_weight: bool, size: int, options: list[Any]
) -> Any:
    """Compute a batched convolution without bias.

    `of_input` is True if the input is batched, and `of_weight` is True if the weight is batched. `options`
    are the arguments after the bias.
    """
    groups = options[5]
    if not of_weight:
        return split_batch(ts.convolution(merge_batch(input), weight, None, *options), size)
    if not of_input:
        input = input.unsqueeze(0).expand([size, *input.shape])
    joined = input.movedim(0, 1)
    joined = joined.flatten(1, 2)  # (examples, channels of all batch elements)
    output = ts.convolution(joined, merge_batch(weight), None, *options[:5], groups * size)  # type: ignore[call-arg]  # mypy does not know the number of options
    return split_batch(output, size, 1)


def _examples(call: Call, i: int, single: bool) -> Any:
    """Return argument `i`. If `single`, the argument has no dimension N: insert one of size 1."""
    x = call.values[i]
    return x.unsqueeze(int(call.batch_flags[i])) if single else x


def _convolution(call: Call) -> Any:
    options = call.values[3:]
    single = call.rank(0) < call.rank(1)
    input, of_input, of_weight = (
        _examples(call, 0, single),
        bool(call.batch_flags[0]),
        bool(call.batch_flags[1]),
    )
    if of_input or of_weight:
        output = convolve(input, of_input, call.values[1], of_weight, call.size, options)
    else:
        output = ts.convolution(input, call.values[1], None, *options).unsqueeze(0)
    bias = call.values[2]
    if bias is not None:
        first = [call.size, 1] if call.batch_flags[2] else []
        output = output + bias.reshape([*first, -1, *[1] * (output.dim() - 3)])
    return output.squeeze(1) if single else output


def _convolution_backward(call: Call) -> Any:
    """Return the gradients of a batched convolution."""
    single = call.rank(1) < call.rank(2)
    grad, input, weight = (call.expanded(i) for i in range(3))
    if single:
        grad, input = grad.unsqueeze(1), input.unsqueeze(1)
    options, mask = call.values[4:10], call.values[10]
    recorded = is_grad_enabled()
    with GradMode(True):
        x, w = require_grad_at_level(input), require_grad_at_level(weight)
        y = convolve(x, True, w, True, call.size, options)
        required = [t for t, want in zip((x, w), mask, strict=False) if want]
        computed = iter(autograd_grad(y, required, grad, create_graph=True) if required else ())
    needs_graph = recorded and any(t.requires_grad for t in (grad, input, weight))
    gradients: list[Any] = []
    for want in mask[:2]:
        gradient = next(computed) if want else None
        gradients.append(gradient if gradient is None or needs_graph else detached(gradient))
    if single and gradients[0] is not None:
        gradients[0] = gradients[0].squeeze(1)
    gradients.append(grad.sum([1, *range(3, grad.dim())]) if mask[2] else None)
    return tuple(grad.new_zeros(call.size, 0) if p is None else p for p in gradients)


batch("convolution", _convolution)
batch("convolution_backward", _convolution_backward)

# ---------------------------------------------------------------- pooling, padding and resampling

batch(
    "max_pool2d_with_indices avg_pool2d _adaptive_avg_pool2d adaptive_max_pool2d max_unpool2d "
    "avg_pool2d_backward max_pool2d_with_indices_backward adaptive_max_pool2d_backward "
    "_adaptive_avg_pool2d_backward reflection_pad2d replication_pad2d reflection_pad2d_backward "
    "replication_pad2d_backward im2col",
    over_planes(2),
)
batch("col2im", over_planes(1))
batch(
    "max_pool3d_with_indices avg_pool3d _adaptive_avg_pool3d adaptive_max_pool3d max_unpool3d "
    "avg_pool3d_backward max_pool3d_with_indices_backward adaptive_max_pool3d_backward "
    "_adaptive_avg_pool3d_backward reflection_pad3d replication_pad3d reflection_pad3d_backward "
    "replication_pad3d_backward",
    over_planes(3),
)
batch(
    "reflection_pad1d replication_pad1d reflection_pad1d_backward replication_pad1d_backward", over_planes(1)
)
batch("constant_pad_nd", lambda call: call.run(call.values))
for _names, _n in (
    ("upsample_nearest{n}d _upsample_nearest_exact{n}d", 1),
    ("upsample_nearest{n}d _upsample_nearest_exact{n}d upsample_bilinear{n}d upsample_bicubic{n}d", 2),
    ("upsample_nearest{n}d _upsample_nearest_exact{n}d upsample_trilinear{n}d", 3),
    ("upsample_linear{n}d", 1),
):
    _names = _names.replace("{n}", str(_n))
    batch(_names, over_planes(_n))
    batch(" ".join(f"{_name}_backward" for _name in _names.split()), over_planes(_n, "input_size"))
batch("grid_sampler_2d grid_sampler_3d", lambda call: split_batch(
    call.run([merge_batch(call.expanded(0)), merge_batch(call.expanded(1)), *call.values[2:]]), call.size
))  # fmt: skip
batch("_trilinear _compute_linear_combination", run_in_loop)
