"""`while_loop`, which applies a body function repeatedly while a condition function returns True.

In the example, the loop doubles x three times:

    while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (ts.tensor(0), x))

The body takes the carried values (tensors and ints), and returns the same number of new values. The shapes
and dtypes of tensors must not change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.tensor.sym_types import SymBool, SymInt
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops import subgraph_checks
from ts._higher_order_ops.meta_evaluation import DataDependentError, MetaEvaluator, check_once
from ts._higher_order_ops.operator import HigherOrderOperator, check_types, recorder
from ts._higher_order_ops.subgraph_checks import SubgraphResult
from ts.frontend.compile_directives import not_compiled
from ts.utils import _pytree as pytree


@not_compiled("write `while`, which scripts support")
def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any) -> Any:
    """Apply `body_fn` to the carried values while `cond_fn` returns True, and return the final values.

    cond_fn          function that returns a bool or a 0-dimensional bool tensor
    carried_inputs   initial carried values: a tuple of trees of tensors and ints
    """
    leaves, spec = pytree.tree_flatten((carried_inputs, ()))
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    check_types(leaves)

    def flat_cond(*flat: Any) -> Any:
        return cond_fn(*pytree.tree_unflatten(flat, spec)[0])

    def flat_body(*flat: Any) -> Any:
        return body_fn(*pytree.tree_unflatten(flat, spec)[0])

    tracer = recorder()
    if tracer is not None:
        return tracer.higher_order(while_loop_op, (flat_cond, flat_body, tuple(leaves), ()))
    check_once(
        "while_loop", (cond_fn, body_fn), leaves,
        lambda evaluator: _evaluate_body(evaluator, flat_cond, flat_body, leaves) and None,
    )  # fmt: skip
    return _run(flat_cond, flat_body, leaves)


def check_functions(first: SubgraphResult, second: SubgraphResult, carried: list[Any]) -> None:
    """Raise an error if `while_loop` does not support its functions.

    `first` is the result of the condition, `second` is the result of the body, both on meta tensors.
    """
    for subgraph, function_name in ((first, "cond_fn"), (second, "body_fn")):
        for x in subgraph.leaves if function_name == "body_fn" else ():
            if not isinstance(x, Tensor | int | SymInt):
                subgraph_checks.check_numbers("while_loop", [x if x is not None else ""])
        subgraph_checks.check_memory("while_loop", subgraph, lambda x: _is_writable(x, carried))
    (truth,) = first.leaves if len(first.leaves) == 1 else (None,)
    if truth is True:
        raise subgraph_checks.uncaptured_error(
            "while_loop",
            "torch.while_loop: infinite loop detected",
            "Infinite loop detected because while_loop's cond_fn always returns the same value True.",
        )
    if not isinstance(truth, bool | SymBool) and not (
        isinstance(truth, Tensor) and truth.ndim == 0 and truth.dtype is ts.bool
    ):
        raise subgraph_checks.uncaptured_error(
            "while_loop",
            "torch.while_loop: unsupported cond_fn return type",
            "Expected cond_fn to return a scalar tensor or a bool but got "
            f"{truth.shape if isinstance(truth, Tensor) else truth}.",
        )
    subgraph_checks.check_same("while_loop", second.leaves, carried, "body_fn_output", "carried_inputs")


def _is_writable(x: Tensor, carried: list[Any]) -> bool:
    return not ts.is_grad_enabled() and not any(x is y for y in carried)


def _evaluate_body(evaluator: MetaEvaluator, cond_fn: Any, body_fn: Any, carried: Any) -> Any:
    """Run the condition and the body on meta tensors, check them, and return the result of the body."""
    if any(not isinstance(x, Tensor) for x in carried):
        raise DataDependentError("while_loop")  # the body may change a carried int
    metas = [evaluator.new_meta(x) for x in carried]
    first, second = evaluator.evaluate(cond_fn, metas), evaluator.evaluate(body_fn, metas)
    check_functions(first, second, metas)
    return second


def _run(cond_fn: Any, body_fn: Any, carried: Any) -> Any:
    """Run the loop and return the final values. If the body never runs, return copies of `carried`."""
    values: Any = tuple(carried)
    outputs: Any = None
    while _predicate_to_bool(cond_fn(*values)):
        outputs = body_fn(*values)
        values = tuple(pytree.tree_leaves(outputs))
        if len(values) != len(carried):
            raise AssertionError(
                "body_fn should return the same number of elements as carried_inputs, got "
                f"{len(values)} vs {len(carried)}"
            )
    if outputs is None:
        return tuple(x.clone() if isinstance(x, Tensor) else x for x in values)
    return outputs


def _predicate_to_bool(pred: Any) -> bool:
    if isinstance(pred, bool) or (isinstance(pred, Tensor) and pred.ndim == 0 and pred.dtype is ts.bool):
        return bool(pred)
    raise RuntimeError(f"cond_fn must return a boolean scalar tensor or a boolean but got {pred}")


class WhileLoopOp(HigherOrderOperator):
    """Higher-order operator `while_loop(cond_graph, body_graph, carried_inputs, additional_inputs)`."""

    name = "while_loop"

    def check(  # type: ignore[override]
        self, cond_fn: Any, body_fn: Any, carried_inputs: Any, additional_inputs: Any
    ) -> None:
        for argument_name, inputs in (
            ("carried_inputs", carried_inputs),
            ("additional_inputs", additional_inputs),
        ):
            if not isinstance(inputs, tuple | list):
                raise RuntimeError(f"{argument_name} must be a tuple or list, got {type(inputs)}")
            check_types(inputs)

    def run(  # type: ignore[override]
        self, cond_fn: Any, body_fn: Any, carried_inputs: Any, additional_inputs: Any
    ) -> Any:
        return _run(
            lambda *values: cond_fn(*values, *additional_inputs),
            lambda *values: body_fn(*values, *additional_inputs),
            carried_inputs,
        )

    def evaluate_meta(
        self, evaluator: MetaEvaluator, cond_fn: Any, body_fn: Any, carried: Any, additional: Any
    ) -> Any:
        """Return the result of the operator on meta tensors."""
        body = _evaluate_body(evaluator, cond_fn, body_fn, carried)
        return pytree.tree_unflatten([evaluator.new_meta(x) for x in body.leaves], body.spec)


while_loop_op = WhileLoopOp()

__all__ = ["check_functions", "while_loop", "while_loop_op"]
