"""`map`, which applies a function to each slice along the first dimension, and stacks the results.

The example applies the function to each row of `xs`. `y` is a further argument of each call:

    map(lambda row, y: (row @ y).relu(), xs, y)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops import subgraph_checks
from ts._higher_order_ops.meta_evaluation import MetaEvaluator, check_once
from ts._higher_order_ops.operator import HigherOrderOperator, recorder
from ts._higher_order_ops.subgraph_checks import SubgraphResult
from ts.frontend.compile_directives import not_compiled
from ts.utils import _pytree as pytree

EMPTY_DIMENSION_ERROR = "Leading dimensions of mapped xs cannot be 0."
UNEQUAL_DIMENSIONS_ERROR = "Leading dimensions of mapped xs must be consistent."


@not_compiled("write a loop over the rows, and combine the results with `torch.stack`")
def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """Return the stacked results of `f(x, *args)` for each slice x of `xs` along the first dimension.

    xs   a tensor, or a tree of tensors of equal length
    """
    leaves, spec = pytree.tree_flatten(xs)
    others, others_spec = pytree.tree_flatten(args)
    if not all(isinstance(x, Tensor) for x in leaves):
        raise RuntimeError(f"Mapped xs can only consist of tensors. Got xs {leaves}.")
    shapes = [x.shape for x in leaves]
    length = shapes[0][0]
    if length == 0:
        raise RuntimeError(EMPTY_DIMENSION_ERROR)
    if any(shape[0] != length for shape in shapes):
        raise RuntimeError(f"{UNEQUAL_DIMENSIONS_ERROR} Got shapes {shapes}.")

    def flat_f(*flat: Any) -> Any:
        x = pytree.tree_unflatten(flat[: len(leaves)], spec)
        return f(x, *pytree.tree_unflatten(flat[len(leaves) :], others_spec))

    tracer = recorder()
    if tracer is not None:
        return tracer.higher_order(map_op, (flat_f, leaves, others))
    check_once(
        "map_impl",
        (f,),
        (leaves, others),
        lambda evaluator: _evaluate_body(evaluator, flat_f, leaves, others) and None,
    )
    return map_op.run(flat_f, leaves, others)


def check_body(body: SubgraphResult, slices: list[Any]) -> None:
    """Raise an error if `map` does not support the function whose result on meta tensors is `body`."""
    subgraph_checks.check_memory(
        "map_impl", body, lambda x: not ts.is_grad_enabled() and any(x is y for y in slices)
    )
    if not all(isinstance(x, Tensor | None) for x in body.leaves):
        raise subgraph_checks.uncaptured_error(
            "map_impl", "HOP: non torch.Tensor leaf", "Expected all leaves to be of torch.Tensor type."
        )


def _evaluate_body(evaluator: MetaEvaluator, f: Any, xs: Any, args: Any) -> Any:
    slices = [evaluator.new_meta(x, x.shape[1:]) for x in xs]
    body = evaluator.evaluate(f, (*slices, *args))
    check_body(body, slices)
    return body


class MapOp(HigherOrderOperator):
    """Higher-order operator `torch.ops.higher_order.map_impl(graph, xs, args)`."""

    name = "map_impl"

    def run(self, f: Any, xs: Any, args: Any) -> Any:  # type: ignore[override]
        columns = [x.unbind(0) for x in xs]
        if not columns[0]:
            raise RuntimeError(EMPTY_DIMENSION_ERROR)
        if any(len(x) != len(columns[0]) for x in columns):
            raise RuntimeError(UNEQUAL_DIMENSIONS_ERROR)
        each = [pytree.tree_flatten(f(*row, *args)) for row in zip(*columns, strict=True)]
        stacked = [
            ts.stack(column) if isinstance(column[0], Tensor) else column[0]
            for column in zip(*(leaves for leaves, _ in each), strict=True)
        ]
        return pytree.tree_unflatten(stacked, each[0][1])

    def evaluate_meta(self, evaluator: MetaEvaluator, f: Any, xs: Any, args: Any) -> Any:
        """Return the result of the operator on meta tensors."""
        body, n = _evaluate_body(evaluator, f, xs, args), xs[0].shape[0]
        outputs = [x if x is None else evaluator.new_meta(x, (n, *x.shape)) for x in body.leaves]
        return pytree.tree_unflatten(outputs, body.spec)


map_op = MapOp()

__all__ = ["check_body", "map", "map_op"]
