"""Vectorizing map (automatic batching): applies a function to all elements of a batch at once.

    >>> vmap(ts.dot)(ts.ones(5, 3), ts.ones(5, 3))
    tensor([3., 3., 3., 3., 3.])

The function runs once, with batched tensors (`ts._core.dispatch_layers.batched_tensor`) as arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ts
from ts import Tensor
from ts._core.dispatch_layers.batched_tensor import batched, opened_batch, unbatched, unwrap_batched
from ts._core.thread.context import current_tracer
from ts._core.thread.transform_state import transforming
from ts.func.pytree import TreeSpec, broadcast, flatten, unflatten

Function = Callable[..., Any]
_find_replacement: Callable[[], Function | None] = lambda: None  # noqa: E731


def set_replacement_finder(find: Callable[[], Function | None]) -> None:
    """Set a callback that every function returned by `vmap` calls first.

    The callback returns a function that replaces `vmap`, or None if `vmap` is not replaced.
    """
    global _find_replacement
    _find_replacement = find


def vmap(
    func: Function,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Function:
    """Return a function that maps `func` over a dimension of the arguments and stacks the results.

    in_dims     batch dimension of all arguments, or a tree with a dimension for each argument (None: no batch
                dimension)
    out_dims    batch dimension of the results (None: return an unbatched result unchanged)
    randomness  "different" (random numbers differ between elements), "same", or "error" (raise RuntimeError)
    chunk_size  number of elements computed together

    Raises ValueError for invalid dimensions, and RuntimeError for operations that do not support batches.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        run = _find_replacement()
        if run is not None:
            return run(func, in_dims, out_dims, randomness, chunk_size, args, kwargs)
        call = _BatchedFunction(func, in_dims, out_dims, randomness)
        return call.run(args, kwargs, chunk_size)

    return mapped


def name_of(func: Any) -> str:
    """Return the name of a function for error messages."""
    if hasattr(func, "__name__"):
        return str(func.__name__)
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return repr(func)


class _BatchedFunction:
    def __init__(self, func: Function, in_dims: Any, out_dims: Any, randomness: str) -> None:
        self.func = func
        self.name = name_of(func)
        self.in_dims = in_dims
        self.out_dims = out_dims
        self.randomness = randomness
        for dim in flatten(out_dims)[0]:
            if dim is not None and not isinstance(dim, int):
                raise ValueError(
                    f"vmap({self.name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a "
                    "python "
                    "collection of ints representing where in the outputs the vmapped dimension should "
                    "appear."
                )

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any], chunk_size: int | None) -> Any:
        leaves, shape = flatten(args)
        dims = self.dims_of(args, leaves, shape)
        size = self.size_of(dims, leaves)
        if chunk_size is None or size <= chunk_size:
            return self.run_batch(size, dims, leaves, shape, kwargs)
        state = ts.get_rng_state() if self.randomness == "same" else None
        chunks = []
        for start in range(0, size, chunk_size):
            n = min(chunk_size, size - start)
            chunk = [x if d is None else x.narrow(d, start, n) for x, d in zip(leaves, dims, strict=True)]
            if state is not None:
                ts.set_rng_state(state)
            chunks.append(flatten(self.run_batch(n, dims, chunk, shape, kwargs)))
        output_spec = chunks[0][1]
        out = broadcast(self.out_dims, output_spec)
        # If the result is a single tensor and `out_dims` a tuple with one element, `broadcast` returns None.
        if out is None:
            out = list(self.out_dims)
        columns = zip(*(leaves_of_chunk for leaves_of_chunk, _ in chunks), strict=True)
        return unflatten([ts.cat(list(c), d) for c, d in zip(columns, out, strict=True)], output_spec)

    def dims_of(self, args: tuple[Any, ...], leaves: list[Any], shape: TreeSpec) -> list[int | None]:
        prefix = f"vmap({self.name}, in_dims={self.in_dims}, ...)(<inputs>): "
        if not isinstance(self.in_dims, (int, tuple)):
            raise ValueError(
                f"{prefix}expected `in_dims` to be int or a (potentially nested) tuple matching the "
                "structure of inputs, "
                f"got: {type(self.in_dims)}."
            )
        if not args:
            raise ValueError(
                f"vmap({self.name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
                "trying to vmap "
                "over a function with no inputs. The latter is unsupported."
            )
        dims = broadcast(self.in_dims, shape)
        if dims is None:
            raise ValueError(
                f"{prefix}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                f"{flatten(self.in_dims)[1]} but inputs has structure {shape}."
            )
        for i, (x, d) in enumerate(zip(leaves, dims, strict=True)):
            if d is None:
                continue
            if not isinstance(d, int):
                raise ValueError(
                    f"{prefix}Got in_dim={d} for an input but in_dim must be either an integer dimension or "
                    "None."
                )
            if not isinstance(x, Tensor):
                raise ValueError(
                    f"{prefix}Got in_dim={d} for an input but the input is of type {type(x)}. We cannot vmap "
                    "over "
                    "non-Tensor arguments, please use None as the respective in_dim"
                )
            if not -x.dim() <= d < x.dim():
                raise ValueError(
                    f"{prefix}Got in_dim={d} for some input, but that input is a Tensor of dimensionality "
                    f"{x.dim()} so "
                    f"expected in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}."
                )
            dims[i] = d % x.dim()
        return dims

    def size_of(self, dims: list[int | None], leaves: list[Any]) -> Any:
        sizes = [x.size(d) for x, d in zip(leaves, dims, strict=True) if d is not None]
        if not sizes:
            raise ValueError("vmap: Expected at least one Tensor to vmap over")
        if any(size != sizes[0] for size in sizes):
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                f"{sizes} for the "
                "mapped dimension"
            )
        return sizes[0]  # a size may be symbolic in an export, so it is not converted to int

    def run_batch(
        self, size: int, dims: list[int | None], leaves: list[Any], shape: TreeSpec, kwargs: dict[str, Any]
    ) -> Any:
        recorder = current_tracer()
        if recorder is not None and recorder.is_export:
            return recorder.vmap(self, size, dims, leaves, shape, kwargs)
        fronts = [
            x if d is None else x if d == 0 else x.movedim(d, 0) for x, d in zip(leaves, dims, strict=True)
        ]
        with opened_batch(size, self.randomness) as level, transforming():
            batched_leaves = [
                x if d is None else batched(level, x) for x, d in zip(fronts, dims, strict=True)
            ]
            outputs, output_spec = flatten(self.func(*unflatten(batched_leaves, shape), **kwargs))
            out = self.out_dims_of(outputs, output_spec)
            return unflatten([self.out(level, x, d) for x, d in zip(outputs, out, strict=True)], output_spec)

    def out_dims_of(self, outputs: list[Any], output_spec: TreeSpec) -> list[int | None]:
        if output_spec.kind is None and isinstance(self.out_dims, tuple) and len(self.out_dims) == 1:
            return list(self.out_dims)
        out = broadcast(self.out_dims, output_spec)
        if out is None:
            raise ValueError(
                f"vmap({self.name}, ..., out_dims={self.out_dims})(<inputs>): out_dims is not compatible "
                "with the "
                f"structure of `outputs`. out_dims has structure {flatten(self.out_dims)[1]} but outputs has "
                "structure "
                f"{output_spec}."
            )
        return out

    def out(self, level: Any, x: Any, dim: int | None) -> Any:
        if dim is None:
            if isinstance(x, Tensor) and unwrap_batched(level, x)[1]:
                raise ValueError(
                    f"vmap({self.name}, ...): `{self.name}` can not return a BatchedTensor when out_dim is "
                    "None"
                )
            return unwrap_batched(level, x)[0]
        if not isinstance(x, Tensor):
            raise ValueError(
                f"vmap({self.name}, ...): `{self.name}` must only return Tensors, got type {type(x)}. Did "
                "you mean to "
                "set out_dims= to None for output?"
            )
        if not -x.dim() - 1 <= dim <= x.dim():
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-x.dim() - 1}, {x.dim()}], but got "
                f"{dim})"
            )
        return unbatched(level, x, dim)
