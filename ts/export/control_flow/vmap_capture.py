"""Capture of `vmap`: adding and removing the batch dimension become nodes.

The nodes between them compute on one element of the batch. The nodes of `vmap(f)(x)` include:

    _vmap_increment_nesting
    _add_batch_dim(x, 0, 1)
    nodes of f
    _remove_batch_dim, _vmap_decrement_nesting
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ts._core.tensor.tensor import Tensor
from ts._functorch import predispatch
from ts.export.fake import device_of, fake_array, fake_for
from ts.func.pytree import flatten, unflatten
from ts.fx.node import has_side_effect

if TYPE_CHECKING:
    from ts.export.tracer import ExportTracer

for _function in (predispatch._vmap_increment_nesting, predispatch._vmap_decrement_nesting):
    has_side_effect(_function)


def record_vmap(
    recorder: ExportTracer, call: Any, size: Any, dims: list[Any], leaves: list[Any], shape: Any, kwargs: Any
) -> Any:
    """Record a call of a batched function and return its results."""
    recorder._call(predispatch.lazy_load_decompositions, (), None)
    recorder._call(predispatch._vmap_increment_nesting, (recorder.node_of(size), call.randomness), None)
    recorder.batches += 1
    try:
        level = recorder.batches
        inner_leaves = [
            x if d is None else _add_batch_dim(recorder, x, d, level)
            for x, d in zip(leaves, dims, strict=True)
        ]
        result_leaves, result_spec = flatten(call.func(*unflatten(inner_leaves, shape), **kwargs))
        out = call.out_dims_of(result_leaves, result_spec)
        outputs = [
            x if d is None else _remove_batch_dim(recorder, x, d, size, level)
            for x, d in zip(result_leaves, out, strict=True)
        ]
    finally:
        recorder.batches -= 1
    recorder._call(predispatch._vmap_decrement_nesting, (), None)
    return unflatten(outputs, result_spec)


def _add_batch_dim(recorder: ExportTracer, x: Tensor, dim: int, level: int) -> Tensor:
    x = recorder.fake_of(x)
    sizes, steps = list(x.array.shape), [s // x.array.itemsize for s in x.array.strides]
    del sizes[dim], steps[dim]
    element = fake_for(fake_array(sizes, x.array.dtype, steps), device_of(x), x.requires_grad)
    recorder._bind(
        recorder._call(predispatch._add_batch_dim, (recorder.node_of(x), dim, level), element), element
    )
    return element


def _remove_batch_dim(recorder: ExportTracer, x: Tensor, dim: int, size: Any, level: int) -> Tensor:
    x = recorder.fake_of(x)
    sizes = list(x.array.shape)
    sizes.insert(dim if dim >= 0 else dim + len(sizes) + 1, size)
    output = fake_for(fake_array(sizes, x.array.dtype), device_of(x), x.requires_grad)
    arguments = (recorder.node_of(x), level, recorder.node_of(size), dim)
    recorder._bind(recorder._call(predispatch._remove_batch_dim, arguments, output), output)
    return output
