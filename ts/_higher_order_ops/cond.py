"""`cond`, which calls one of two functions. The predicate may depend on tensor elements.

Both functions return trees of equal structure, whose tensors have equal dtypes and numbers of dimensions:

    cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ts
from ts._core.dispatch_layers.batched_tensor import Batched
from ts._core.tensor.sym_types import SymBool
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.tensor_metadata import layer_of
from ts._higher_order_ops import subgraph_checks
from ts._higher_order_ops.meta_evaluation import DataDependentError, MetaEvaluator, check_once
from ts._higher_order_ops.operator import HigherOrderOperator, check_types, recorder
from ts._higher_order_ops.subgraph_checks import SubgraphResult
from ts.frontend.compile_directives import not_compiled
from ts.utils import _pytree as pytree


@not_compiled("write `if` and `else`, which scripts support")
def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()) -> Any:
    """Return `true_fn(*operands)` if `pred` is true, otherwise `false_fn(*operands)`.

    pred      a bool, or a tensor with one element
    operands  a tuple of trees of tensors, without captured tensors

    If `pred` is a Python bool, an export contains only the selected function.
    """
    if isinstance(pred, bool | int | float):
        if recorder() is not None:
            warnings.warn(
                "Pred is a Python constant. When used with torch.cond, it specializes on one of the "
                "branches. If you want torch.cond to preserve two branches, please make the predicate a "
                "boolean tensor or a SymBool.",
                UserWarning,
                stacklevel=2,
            )
        return (true_fn if pred else false_fn)(*operands)
    _check_operands(pred, true_fn, false_fn, operands)
    tracer = recorder()
    if tracer is not None:
        return tracer.higher_order(cond_op, (pred, true_fn, false_fn, operands))
    check_once(
        "cond", (true_fn, false_fn), (pred, operands),
        lambda evaluator: _evaluate_branches(evaluator, pred, true_fn, false_fn, operands) and None,
    )  # fmt: skip
    return cond_op.run(pred, true_fn, false_fn, operands)


def _check_operands(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> None:
    if not isinstance(pred, Tensor | SymBool):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, tuple | list) or not all(
        isinstance(x, Tensor) for x in pytree.tree_leaves(operands)
    ):
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor "
            f"leaves, but got {operands}."
        )


def check_calls(true_fn: Any, false_fn: Any, operands: Any) -> None:
    """Raise UncapturedHigherOrderOpError if one of the two functions does not accept the operands."""
    for function in (true_fn, false_fn):
        subgraph_checks.check_call("cond", function, operands)


def check_branches(first: SubgraphResult, second: SubgraphResult, pred: Any, operands: list[Any]) -> None:
    """Raise an error if a branch writes memory or has unsupported results, or if the two results differ."""
    for branch in (first, second):
        subgraph_checks.check_memory("cond", branch, lambda x: not ts.is_grad_enabled())
        subgraph_checks.check_numbers("cond", branch.leaves)
        if any(x is None for x in branch.leaves):
            raise subgraph_checks.uncaptured_error(
                "cond",
                "torch.cond: unsupported branch return type (constant non-int)",
                "Constants returned from branches must be ints.",
            )
    is_one = first.spec.is_leaf() or second.spec.is_leaf()
    if first.spec != second.spec and not is_one:
        raise subgraph_checks.uncaptured_error(
            "cond",
            "torch.cond: differing branch outputs",
            "Expected branches to return the same pytree structure.",
        )
    format_meta = (
        f"{subgraph_checks.format_meta(pred)}, GraphModule(), GraphModule(), "
        f"({', '.join(map(subgraph_checks.format_meta, operands))}{',' if len(operands) == 1 else ''})"
    )
    if len(first.leaves) != len(second.leaves):
        specs = [pytree.tree_structure(tuple(x.leaves)) for x in (first, second)]
        raise subgraph_checks.failed("cond", format_meta, RuntimeError(
            "Unmatched output spec from torch.cond branches: true branch tree_spec "
            f"{specs[0]} vs false branch tree_spec {specs[1]}."
        ))  # fmt: skip
    for a, b in zip(first.leaves, second.leaves, strict=True):
        error = _difference(a, b)
        if error is not None:
            raise subgraph_checks.failed("cond", format_meta, error)


def _difference(a: Any, b: Any) -> Exception | None:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        for property_name, x, y in (("dtype", a.dtype, b.dtype), ("dim", a.ndim, b.ndim)):
            if x != y:
                return RuntimeError(
                    f"When merging two branches' output in torch.cond,  expected same {property_name} "
                    f"but got {x} and {y}."
                )
        return None
    if type(a) is bool or isinstance(a, Tensor) or isinstance(b, Tensor):
        return AssertionError(f"expected both a and b to be FakeTensor, got a={type(a)}, b={type(b)}")
    return None


def _evaluate_branches(
    evaluator: MetaEvaluator, pred: Any, true_fn: Any, false_fn: Any, operands: Any
) -> Any:
    """Run both branches on meta tensors, check the results, and return them."""
    check_calls(true_fn, false_fn, operands)
    first, second = (evaluator.evaluate(f, operands) for f in (true_fn, false_fn))
    check_branches(
        first, second, evaluator.as_meta(pred), list(map(evaluator.as_meta, pytree.tree_leaves(operands)))
    )
    return first, second


class CondOp(HigherOrderOperator):
    """Higher-order operator `torch.ops.higher_order.cond(pred, true_graph, false_graph, operands)`."""

    name = "cond"

    def check(self, pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> None:  # type: ignore[override]
        check_types(operands)

    def run(self, pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:  # type: ignore[override]
        if isinstance(pred, Tensor) and isinstance(layer_of(pred), Batched) and layer_of(pred).has_batch_dim:
            return _select_by_predicate(pred, true_fn(*operands), false_fn(*operands))
        return (true_fn if pred else false_fn)(*operands)

    def evaluate_meta(
        self, evaluator: MetaEvaluator, pred: Any, true_fn: Any, false_fn: Any, operands: Any
    ) -> Any:
        """Return the result of the operator on meta tensors.

        Raise DataDependentError if the branches' results differ in shape or value.
        """
        first, second = _evaluate_branches(evaluator, pred, true_fn, false_fn, operands)
        for a, b in zip(first.leaves, second.leaves, strict=True):
            if (a.shape != b.shape) if isinstance(a, Tensor) else a != b:
                raise DataDependentError("cond")
        return pytree.tree_unflatten(first.leaves, first.spec)


def _select_by_predicate(pred: Tensor, first: Any, second: Any) -> Any:
    """Return, for each batch element, `first` if the predicate is true, else `second`."""
    leaves, spec = pytree.tree_flatten(first)
    selected = [
        ts.where(pred.reshape(()), a, b) for a, b in zip(leaves, pytree.tree_leaves(second), strict=True)
    ]
    return pytree.tree_unflatten(selected, spec)


cond_op = CondOp()

__all__ = ["check_branches", "check_calls", "cond", "cond_op"]
