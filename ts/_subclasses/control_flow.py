"""Control flow on fake tensors, where the selected branch and the number of iterations are unknown.

For `cond`, both branches run and must have results of equal shapes. Gradients flow to both branches. For
`while_loop`, the body runs once, and carried values must keep their shapes. `map` and `scan` need no rule for
fake tensors, because their numbers of iterations are sizes.
"""

from __future__ import annotations

from typing import Any, Final

import ts
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops.cond import check_branches, check_calls
from ts._higher_order_ops.meta_evaluation import MetaEvaluator
from ts._higher_order_ops.while_loop import check_functions
from ts.errors import DynamicOutputShapeException
from ts.utils import _pytree as pytree


def _cond(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
    check_calls(true_fn, false_fn, operands)
    evaluator = MetaEvaluator()
    first, second = (evaluator.evaluate(f, operands) for f in (true_fn, false_fn))
    check_branches(
        first, second, evaluator.as_meta(pred), list(map(evaluator.as_meta, pytree.tree_leaves(operands)))
    )
    for a, b in zip(first.leaves, second.leaves, strict=True):
        if (a.shape != b.shape) if isinstance(a, Tensor) else a != b:
            raise DynamicOutputShapeException("cond: the results of its branches differ in size")
    leaves, spec = pytree.tree_flatten(true_fn(*operands))
    others = pytree.tree_leaves(false_fn(*operands))
    condition = pred.reshape(())
    return pytree.tree_unflatten(
        [
            ts.where(condition, a, b) if isinstance(a, Tensor) else a
            for a, b in zip(leaves, others, strict=True)
        ],
        spec,
    )


def _while_loop(cond_fn: Any, body_fn: Any, carried: Any, additional: Any) -> Any:
    if any(not isinstance(x, Tensor) for x in carried):
        raise DynamicOutputShapeException("while_loop: numbers as carried values are not supported")
    evaluator = MetaEvaluator()
    metas = [evaluator.new_meta(x) for x in carried]
    first, second = (evaluator.evaluate(f, [*metas, *additional]) for f in (cond_fn, body_fn))
    check_functions(first, second, metas)
    return body_fn(*carried, *additional)


RULES: Final = {"cond": _cond, "while_loop": _while_loop}
