"""Associative scan (prefix scan, prefix sum), which combines prefixes by an associative function.

With addition, the result is a cumulative sum:

    associative_scan(lambda a, b: a + b, x, dim=0, combine_mode="generic")        equals x.cumsum(0)

Pairs of neighbours are combined in batches, recursively, with about 2 log(n) calls of the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops.operator import HigherOrderOperator, check_types
from ts._higher_order_ops.scan import canonical_dim
from ts.frontend.compile_directives import not_compiled
from ts.func.vmap import vmap
from ts.nn import functional
from ts.utils import _pytree as pytree

_TOO_SHORT = "All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0"
_Operator = Callable[..., list[Tensor]]


@not_compiled("write a loop over the slices, and combine the results with `torch.stack`")
def associative_scan(
    combine_fn: Callable[..., Any],
    xs: Any,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:
    """Return, for each slice of `xs` along `dim`, the combination of this and all previous slices.

    combine_fn     associative function that combines two slices of `xs` (trees of tensors) into one
    reverse        if true, combine the slices from the last to the first
    combine_mode   "generic", or "pointwise", which accepts only CUDA and XPU tensors. The results are equal.
    """
    leaves, spec = pytree.tree_flatten(xs)
    dim = canonical_dim(leaves[0].ndim, dim)
    _check_operands(combine_fn, leaves, dim, reverse, combine_mode)
    leaves = [ts.movedim(x, dim, 0) for x in leaves]
    if reverse:
        leaves = [ts.flip(x, [0]) for x in leaves]
    batches = pytree.tree_unflatten([0] * len(leaves), spec)
    combine = vmap(combine_fn, in_dims=(batches, batches), out_dims=0)

    def flat_combine(*flat: Any) -> list[Tensor]:
        if len(flat) != 2 * len(leaves):
            raise AssertionError(
                f"Combine_fn received wrong number of arguments, expected {2 * len(leaves)}, "
                f"but got {len(flat)}"
            )
        halves = (pytree.tree_unflatten(half, spec) for half in (flat[: len(leaves)], flat[len(leaves) :]))
        return pytree.tree_leaves(combine(*halves))

    outputs = scan_prefixes(flat_combine, leaves)
    if reverse:
        outputs = [x.flip([0]) for x in outputs]
    return pytree.tree_unflatten([ts.movedim(x, 0, dim) for x in outputs], spec)


def _check_operands(combine_fn: Any, leaves: list[Any], dim: int, reverse: Any, combine_mode: Any) -> None:
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(reverse, bool):
        raise RuntimeError("Reverse must be a bool, but got " + str(type(reverse)))
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    if combine_mode == "pointwise" and not all(x.device.type in ("cuda", "xpu") for x in leaves):
        raise ValueError("For combine_mode='pointwise', all input tensors need to be on CUDA or XPU")
    if any(not isinstance(x, Tensor) for x in leaves):
        raise ValueError("xs leaves must be a Tensor")
    if any(x.ndim <= dim or x.shape[dim] == 0 for x in leaves):
        raise ValueError(_TOO_SHORT)


def scan_prefixes(combine: _Operator, xs: list[Tensor]) -> list[Tensor]:
    """For each index i of the first dimension, combine the rows 0 to i.

    The function calls itself recursively.
    """
    n = xs[0].shape[0]
    if n < 2:
        return xs
    pairs = combine(*(_slice(x, 0, -1, 2) for x in xs), *(_slice(x, 1, None, 2) for x in xs))
    odd = scan_prefixes(combine, pairs)
    before = [_slice(x, 0, -1) for x in odd] if n % 2 == 0 else odd
    even = combine(*before, *(_slice(x, 2, None, 2) for x in xs))
    even = [
        ts.cat([_slice(x, 0, 1), y], dim=0) if y.numel() > 0 else _slice(x, 0, 1)
        for x, y in zip(xs, even, strict=True)
    ]
    return [_interleave(a, b) for a, b in zip(even, odd, strict=True)]


def _slice(x: Tensor, start: int, end: int | None, step: int = 1) -> Tensor:
    slice_view: Tensor = ts.ops.aten.slice(x, 0, start, end, step)
    return slice_view


def _interleave(a: Tensor, b: Tensor) -> Tensor:
    """Interleave the rows of `a` and `b`.

    The first row is that of `a`, which may have one row more than `b`.
    """
    longer = a.shape[0] == b.shape[0] + 1
    if longer:
        b = functional.pad(b, [0] * ((b.ndim - 1) * 2 + 1) + [1])
    interleaved = ts.flatten(ts.stack([a, b], dim=1), start_dim=0, end_dim=1)
    return _slice(interleaved, 0, b.shape[0] + a.shape[0] - 1) if longer else interleaved


class AssociativeScanOp(HigherOrderOperator):
    """Higher-order operator `torch.ops.higher_order.associative_scan(graph, xs, additional_inputs)`."""

    name = "associative_scan"

    def check(self, combine_fn: Any, xs: Any, additional_inputs: Any) -> None:  # type: ignore[override]
        if not isinstance(additional_inputs, tuple | list):
            raise AssertionError(f"additional_inputs must be a tuple or list, got {type(additional_inputs)}")
        check_types(additional_inputs)

    def run(self, combine_fn: Any, xs: Any, additional_inputs: Any) -> Any:  # type: ignore[override]
        combine = vmap(
            lambda *pairs: combine_fn(*pairs, *additional_inputs), in_dims=(0,) * (2 * len(xs)), out_dims=0
        )
        return tuple(scan_prefixes(lambda *flat: pytree.tree_leaves(combine(*flat)), list(xs)))


associative_scan_op = AssociativeScanOp()

__all__ = ["associative_scan", "associative_scan_op", "scan_prefixes"]
