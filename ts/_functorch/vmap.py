"""Steps of `vmap`, as functions that programs can replace.

A program such as `tensordict` may replace one of these functions. Only then does `ts.func.vmap` call them:

    size, dims, leaves, spec = _process_batched_inputs(0, (x, y), f)
    level = _vmap_increment_nesting(size, "error")
    results = f(*_create_batched_inputs(dims, leaves, level, spec))
    _unwrap_batched(results, 0, level, size, f)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.dispatch_layers.batched_tensor import unwrap_batched
from ts._core.tensor.tensor import Tensor
from ts._functorch.predispatch import (
    _add_batch_dim,
    _remove_batch_dim,
    _vmap_decrement_nesting,
    _vmap_increment_nesting,
    lazy_load_decompositions,
    level_of,
)
from ts.func import vmap
from ts.func.vmap import name_of as _get_name
from ts.func.vmap import set_replacement_finder
from ts.unsupported import names_for
from ts.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten

__all__ = ["lazy_load_decompositions", "vmap"]
__getattr__ = names_for(__name__)


def _validate_and_get_batch_size(flat_in_dims: list[int | None], flat_args: list[Any]) -> Any:
    """Return the common size of the mapped dimensions.

    Raise ValueError if no dimension is mapped or the sizes differ.
    """
    sizes = [x.size(dim) for dim, x in zip(flat_in_dims, flat_args, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


def _process_batched_inputs(
    in_dims: Any, args: tuple[Any, ...], func: Callable[..., Any]
) -> tuple[Any, list[int | None], list[Any], Any]:
    """Return the batch size, the mapped dimension of each argument leaf, the leaves, and the tree spec."""
    leaves, spec = tree_flatten(args)
    prefix = f"vmap({_get_name(func)}, in_dims={in_dims}, ...)(<inputs>): "
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{prefix}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    for i, (x, dim) in enumerate(zip(leaves, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(x, Tensor):
            raise ValueError(
                f"{prefix}Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot vmap "
                "over non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -x.dim() <= dim < x.dim():
            raise ValueError(
                f"{prefix}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
                f"{x.dim()} so expected in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}."
            )
        dims[i] = dim % x.dim()
    return _validate_and_get_batch_size(dims, leaves), dims, leaves, spec


def _create_batched_inputs(
    flat_in_dims: list[int | None], flat_args: list[Any], vmap_level: int, args_spec: Any
) -> Any:
    """Return the arguments, in which batched tensors of level `vmap_level` replace mapped leaves."""
    batched = [
        x if dim is None else _add_batch_dim(x, dim, vmap_level)
        for dim, x in zip(flat_in_dims, flat_args, strict=True)
    ]
    return tree_unflatten(batched, args_spec)


def _maybe_remove_batch_dim(
    name: str, batched_output: Any, vmap_level: int, batch_size: int, out_dim: int | None
) -> Any:
    """Move the batch dimension of a result to `out_dim`.

    If `out_dim` is None, the result must not be batched, and is returned unchanged.
    """
    if out_dim is None:
        if isinstance(batched_output, Tensor) and unwrap_batched(level_of(vmap_level), batched_output)[1]:
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return batched_output
    if not isinstance(batched_output, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(batched_output)}. "
            "Did you mean to set out_dims= to None for output?"
        )
    return _remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)


def _unwrap_batched(
    batched_outputs: Any, out_dims: Any, vmap_level: int, batch_size: int, func: Callable[..., Any]
) -> Any:
    """Return the results, with the batch dimensions moved to `out_dims`."""
    leaves, spec = tree_flatten(batched_outputs)
    if isinstance(batched_outputs, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1:
        dims: Any = list(out_dims)
    else:
        dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({_get_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with "
            f"the structure of `outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has "
            f"structure {spec}."
        )
    unwrapped = [
        _maybe_remove_batch_dim(_get_name(func), x, vmap_level, batch_size, dim)
        for x, dim in zip(leaves, dims, strict=True)
    ]
    return tree_unflatten(unwrapped, spec)


_OWN_FUNCTIONS = (
    _process_batched_inputs, _create_batched_inputs, _unwrap_batched, _add_batch_dim, _remove_batch_dim,
)  # fmt: skip


def _are_functions_replaced() -> bool:
    steps = (
        _process_batched_inputs, _create_batched_inputs, _unwrap_batched, _add_batch_dim, _remove_batch_dim,
    )  # fmt: skip
    return steps != _OWN_FUNCTIONS


def _run_functions(
    func: Callable[..., Any],
    in_dims: Any,
    out_dims: Any,
    randomness: str,
    chunk_size: int | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Compute `vmap` by the functions of this module, some of which a program has replaced."""
    size, dims, leaves, spec = _process_batched_inputs(in_dims, args, func)
    if chunk_size is None or size <= chunk_size:
        return _run_chunk(func, out_dims, randomness, (size, dims, leaves, spec), kwargs)
    results = []
    for start in range(0, size, chunk_size):
        count = min(chunk_size, size - start)
        chunk = [x if d is None else x.narrow(d, start, count) for d, x in zip(dims, leaves, strict=True)]
        results.append(
            tree_flatten(_run_chunk(func, out_dims, randomness, (count, dims, chunk, spec), kwargs))
        )
    out_spec = results[0][1]
    flat_out_dims = _broadcast_to_and_flatten(out_dims, out_spec) or list(out_dims)
    columns = zip(*(outputs for outputs, _ in results), strict=True)
    concatenated = [ts.cat(list(column), dim) for column, dim in zip(columns, flat_out_dims, strict=True)]
    return tree_unflatten(concatenated, out_spec)


def _run_chunk(
    func: Callable[..., Any], out_dims: Any, randomness: str, inputs: Any, kwargs: dict[str, Any]
) -> Any:
    size, dims, leaves, spec = inputs
    level = _vmap_increment_nesting(size, randomness)
    try:
        results = func(*_create_batched_inputs(dims, leaves, level, spec), **kwargs)
        return _unwrap_batched(results, out_dims, level, size, func)
    finally:
        _vmap_decrement_nesting()


set_replacement_finder(lambda: _run_functions if _are_functions_replaced() else None)
