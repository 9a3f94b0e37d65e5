"""Capture of `cond` in exports: both branches are recorded.

If a result has different sizes in the two branches, its size becomes a new symbol. The range of this symbol
includes both sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ts._core.tensor.sym_types import SymInt
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops.cond import check_branches, check_calls, cond_op
from ts._higher_order_ops.subgraph_checks import is_provably_equal
from ts.backends.meta.array import MetaArray
from ts.export.control_flow.captured_inputs import Sources
from ts.export.control_flow.subgraph_capture import Branch
from ts.export.control_flow.subgraphs import attributes, call, module_of
from ts.export.fake import device_of, fake_for
from ts.export.sym_node import expression_of, symbol_of
from ts.export.sympy_import import sympy
from ts.fx.node import Node
from ts.utils import _pytree as pytree

if TYPE_CHECKING:
    from ts.export.shape_env import ShapeEnv
    from ts.export.tracer import ExportTracer


def record_cond(recorder: ExportTracer, pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
    """Record both branches of `cond` as subgraphs, record the `cond` node, and return its results."""
    check_calls(true_fn, false_fn, operands)
    sources = Sources(
        [("l_args_0_", pred), ("l_args_3", operands), ("l_args_1", true_fn), ("l_args_2", false_fn)]
    )
    branches = [Branch(recorder, sources) for _ in range(2)]
    first, second = (b.capture(f, operands) for b, f in zip(branches, (true_fn, false_fn), strict=True))
    with recorder.paused():
        check_branches(first, second, pred, pytree.tree_leaves(operands))
        pairs = zip(first.leaves, second.leaves, strict=True)
        merged = [_merged(recorder.environment, a, b) for a, b in pairs]
    inputs = captured_nodes(*branches)
    modules = [
        module_of(b, inputs, tuple(map(b.node_of, result.leaves)))
        for b, result in zip(branches, (first, second), strict=True)
    ]
    truth = recorder.node_of(pred)
    graphs = attributes(recorder, dict(zip(("true_graph", "false_graph"), modules, strict=True)))
    call(recorder, cond_op, (truth, *graphs, tuple(inputs)), merged)
    return pytree.tree_unflatten(merged, first.spec)


def captured_nodes(*branches: Branch) -> list[Node]:
    """Return the nodes of the surrounding graph that the branches capture.

    First are the nodes that all branches capture. Then follow the nodes of only the first branch, and the
    nodes of only the second branch. Each of these groups is sorted by name.
    """
    capturers: dict[Node, list[int]] = {}
    names: dict[Node, str] = {}
    for i, branch in enumerate(branches):
        for outer, inner in branch.lifted.items():
            capturers.setdefault(outer, []).append(i)
            names.setdefault(outer, inner.name)
    return sorted(
        capturers,
        key=lambda outer: (len(capturers[outer]) < len(branches), capturers[outer][0], names[outer]),
    )


def _merged(environment: ShapeEnv, a: Any, b: Any) -> Any:
    """Return one result of `cond`. `a` and `b` are this result in the first and in the second branch.

    A number or tensor size that differs between the branches becomes a new symbol.
    """
    if not isinstance(a, Tensor):
        return a if is_provably_equal(a, b) else _between(environment, a, b)
    sizes = [
        n
        if is_provably_equal(n, m) and not _follows_from_data(environment, n)
        else _between(environment, n, m)
        for n, m in zip(a.array.shape, b.array.shape, strict=True)
    ]
    is_same_shape = all(n is m for n, m in zip(sizes, a.array.shape, strict=True))
    strides = a.array.strides if is_same_shape else _strides(sizes, a.array)
    array = MetaArray(sizes, a.array.dtype, strides)
    return fake_for(array, device_of(a), a.requires_grad or b.requires_grad)


def _strides(sizes: Sequence[Any], like: MetaArray) -> list[Any]:
    """Return the strides of a dense array of shape `sizes`.

    Its dimensions have the memory order of `like`.
    """
    order = sorted(range(len(sizes)), key=lambda d: (_to_int(like.strides[d]), -d))
    strides: list[Any] = [0] * len(sizes)
    step: Any = like.itemsize
    for d in order:
        if isinstance(like.strides[d], int) and like.strides[d] == 0:
            continue
        strides[d] = step
        step = step * sizes[d]
    return strides


def _to_int(stride: Any) -> int:
    hint = stride.node.hint if isinstance(stride, SymInt) else stride
    return 1 << 62 if hint is None else int(hint)


def _follows_from_data(environment: ShapeEnv, n: Any) -> bool:
    return isinstance(n, SymInt) and not environment.has_hint(n.node.expr)


def _between(environment: ShapeEnv, n: Any, m: Any) -> Any:
    """Return a new symbol.

    Its range is the smallest range that includes both the range of `n` and that of `m`.
    """
    intervals = [environment.value_range(expression_of(x)) for x in (n, m)]
    low, high = min(e.low for e in intervals), max(e.high for e in intervals)
    symbol = environment.unbacked()
    for condition in (sympy.Ge(symbol, _bound(low)), sympy.Le(symbol, _bound(high))):
        if condition != sympy.true:
            environment.require(condition)
    return symbol_of(symbol, environment)


def _bound(x: Any) -> Any:
    if x in (float("inf"), float("-inf")):
        return sympy.oo if x > 0 else -sympy.oo
    return sympy.Integer(x)
