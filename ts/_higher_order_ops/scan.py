"""`scan`, which calls a function with a carry and each slice of a tensor, and stacks the outputs.

Each call of the function returns the next carry and an output. `scan` returns the last carry and all outputs:

    scan(lambda carry, x: (carry + x, carry * x), ts.zeros(3), xs)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops import subgraph_checks
from ts._higher_order_ops.meta_evaluation import MetaEvaluator, check_once
from ts._higher_order_ops.operator import HigherOrderOperator, check_types, recorder
from ts._higher_order_ops.subgraph_checks import SubgraphResult
from ts.frontend.compile_directives import not_compiled
from ts.utils import _pytree as pytree

TOO_SHORT = "All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0"


@not_compiled("write a loop over the slices, and combine the results with `torch.stack`")
def scan(combine_fn: Callable[..., Any], init: Any, xs: Any, *, dim: int = 0, reverse: bool = False) -> Any:
    """Scan `xs`: return the final carry and the stacked outputs of `combine_fn(carry, x)`.

    init      the first carry: a tensor, or a tree of tensors
    xs        a tensor, or a tree of tensors
    dim       dimension along which `xs` is sliced
    reverse   if true, scan from the last slice to the first
    """
    first, init_spec = pytree.tree_flatten(init)
    leaves, xs_spec = pytree.tree_flatten(xs)
    if not leaves:
        return init, []
    dim = canonical_dim(leaves[0].ndim, dim)
    _check_operands(combine_fn, first, leaves, reverse, dim)
    leaves = [ts.movedim(x, dim, 0) if dim != 0 else x for x in leaves]
    if reverse:
        leaves = [ts.flip(x, [0]) for x in leaves]
    trees = _ResultStructures()

    def flat_combine(*flat: Any) -> Any:
        carry = pytree.tree_unflatten(flat[: len(first)], init_spec)
        outputs = combine_fn(carry, pytree.tree_unflatten(flat[len(first) :], xs_spec))
        _check_pair(outputs)
        trees.carry, trees.out = (pytree.tree_structure(subtree) for subtree in outputs)
        carried, inputs = pytree.tree_leaves(outputs[0]), list(flat[: len(first)])
        if len(carried) != len(inputs):
            subgraph_checks.check_same("scan", inputs, carried, "init", "carry")
        return [*carried, *pytree.tree_leaves(outputs[1])]

    tracer = recorder()
    if tracer is not None:
        outputs = tracer.higher_order(scan_op, (flat_combine, first, leaves, ()))
    else:
        check_once(
            "scan", (combine_fn,), (first, leaves),
            lambda evaluator: _evaluate_body(evaluator, flat_combine, first, leaves) and None,
        )  # fmt: skip
        outputs = scan_op.run(flat_combine, first, leaves, ())
    carry, out = list(outputs[: len(first)]), list(outputs[len(first) :])
    if reverse:
        out = [x.flip([0]) for x in out]
    if dim != 0:
        out = [ts.movedim(x, 0, dim) if dim < x.ndim else x for x in out]
    return pytree.tree_unflatten(carry, trees.carry), pytree.tree_unflatten(out, trees.out)


class _ResultStructures:
    """Tree structures of the two results of `combine_fn`: the carry and the output."""

    __slots__ = ("carry", "out")

    carry: Any
    out: Any


def canonical_dim(ndim: int, dim: Any) -> int:
    """Return a dimension as a nonnegative number. Raise IndexError if it is out of range."""
    low, high = (-ndim, ndim - 1) if ndim > 0 else (-1, 0)
    if dim >= 0 and dim <= high:
        return int(dim)
    if not low <= dim <= high:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})"
        )
    return int(dim) + max(ndim, 1)


def _check_operands(combine_fn: Any, init: list[Any], xs: list[Any], reverse: Any, dim: int) -> None:
    if not callable(combine_fn):
        raise RuntimeError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(reverse, bool):
        raise RuntimeError("Reverse must be a bool, but got " + str(type(reverse)))
    if len(init) == 0:
        raise RuntimeError("scan() operator requires init leaves.")
    for argument_name, leaves in (("init", init), ("xs", xs)):
        for x in leaves:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"All {argument_name} leaves must be a Tensor but got {x}")
    if any(x.ndim <= dim or x.shape[dim] == 0 for x in xs):
        raise RuntimeError(TOO_SHORT)


def _check_pair(outputs: Any) -> None:
    if not isinstance(outputs, tuple | list) or len(outputs) != 2:
        raise subgraph_checks.uncaptured_error(
            "scan",
            "torch.scan: improper combine_fn number of returns",
            f"Expect combine_fn to return a tuple (next_carry, y) but got {outputs}.",
        )


def check_combine(body: SubgraphResult, own: list[Any], init: list[Any]) -> None:
    """Raise an error if `scan` does not support `combine_fn`.

    body   result of `combine_fn` on meta tensors
    own    arguments of one call of `combine_fn`, flattened: the carry and one slice of each tensor
    init   the initial carry, flattened
    """
    subgraph_checks.check_memory(
        "scan", body, lambda x: not ts.is_grad_enabled() and not any(x is y for y in own)
    )
    subgraph_checks.check_numbers("scan", body.leaves)
    subgraph_checks.check_same("scan", init, body.leaves[: len(init)], "init", "carry")
    for x in body.leaves[len(init) :]:
        if not isinstance(x, Tensor):
            error = AttributeError(f"'{type(x).__name__}' object has no attribute 'unsqueeze'")
            format_meta = ", ".join(map(subgraph_checks.format_meta, init))
            raise subgraph_checks.failed("scan", f"GraphModule(), [{format_meta}]", error)


def _evaluate_body(evaluator: MetaEvaluator, combine_fn: Any, init: Any, xs: Any) -> Any:
    carry = [evaluator.new_meta(x) for x in init]
    slices = [evaluator.new_meta(x, x.shape[1:]) for x in xs]
    body = evaluator.evaluate(combine_fn, (*carry, *slices))
    check_combine(body, [*carry, *slices], carry)
    return body


class ScanOp(HigherOrderOperator):
    """Higher-order operator `torch.ops.higher_order.scan(graph, init, xs, additional_inputs)`."""

    name = "scan"

    def check(  # type: ignore[override]
        self, combine_fn: Any, init: Any, xs: Any, additional_inputs: Any
    ) -> None:
        if not isinstance(additional_inputs, tuple | list):
            raise AssertionError(f"additional_inputs must be a tuple or list, got {type(additional_inputs)}")
        check_types(additional_inputs)

    def run(  # type: ignore[override]
        self, combine_fn: Any, init: Any, xs: Any, additional_inputs: Any
    ) -> Any:
        if xs[0].shape[0] == 0:
            raise RuntimeError(TOO_SHORT)
        carry, columns = list(init), []
        for i in range(xs[0].shape[0]):
            slices = [x.select(0, i) for x in xs]
            leaves = pytree.tree_leaves(combine_fn(*carry, *slices, *additional_inputs))
            carry = leaves[: len(init)]
            columns.append(leaves[len(init) :])
        return (*carry, *(ts.stack(each) for each in zip(*columns, strict=True)))

    def evaluate_meta(
        self, evaluator: MetaEvaluator, combine_fn: Any, init: Any, xs: Any, additional: Any
    ) -> Any:
        """Return the result of the operator on meta tensors."""
        body, n = _evaluate_body(evaluator, combine_fn, init, xs), xs[0].shape[0]
        carry = [evaluator.new_meta(x) for x in body.leaves[: len(init)]]
        return (*carry, *(evaluator.new_meta(x, (n, *x.shape)) for x in body.leaves[len(init) :]))


scan_op = ScanOp()

__all__ = ["canonical_dim", "check_combine", "scan", "scan_op"]
