"""Capture of `while_loop`, `map` and `scan` in exports.

The body is recorded once. Numbers that change between iterations become symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops.map import check_body, map_op
from ts._higher_order_ops.scan import check_combine, scan_op
from ts._higher_order_ops.while_loop import check_functions, while_loop_op
from ts.backends.meta.array import MetaArray
from ts.export.control_flow.captured_inputs import Sources
from ts.export.control_flow.cond_capture import captured_nodes
from ts.export.control_flow.subgraph_capture import Branch
from ts.export.control_flow.subgraphs import attributes, call, module_of
from ts.export.fake import device_of, fake_array, fake_for
from ts.export.sym_node import symbol_of
from ts.utils import _pytree as pytree

if TYPE_CHECKING:
    from ts.export.tracer import ExportTracer


def record_while_loop(
    recorder: ExportTracer, cond_fn: Any, body_fn: Any, carried: Any, additional: Any
) -> Any:
    """Record a `while_loop` node and return the loop's results. Carried numbers become unbacked symbols."""
    environment = recorder.environment
    carried = [recorder.fake_of(x) if isinstance(x, Tensor) else x for x in carried]

    def any_round(x: Any) -> Any:
        return _like(x) if isinstance(x, Tensor) else symbol_of(environment.unbacked(), environment)

    with recorder.paused():
        carried_fakes = list(map(any_round, carried))
    sources = Sources([("l_args_2", carried), ("l_args_0", cond_fn), ("l_args_1", body_fn)])
    branches = [Branch(recorder, sources) for _ in range(2)]
    for branch in branches:
        branch.add_inputs([*carried_fakes, *additional])
    first, second = (
        b.capture(f, (*carried_fakes, *additional)) for b, f in zip(branches, (cond_fn, body_fn), strict=True)
    )
    with recorder.paused():
        check_functions(first, second, carried_fakes)
    if first.leaves[0] is False:
        return tuple(carried)
    inputs = captured_nodes(*branches)
    truth, body = branches[0].node_of(first.leaves[0]), tuple(map(branches[1].node_of, second.leaves))
    modules = {
        "while_loop_cond_graph": module_of(branches[0], inputs, truth),
        "while_loop_body_graph": module_of(branches[1], inputs, body),
    }
    with recorder.paused():
        results = list(map(any_round, carried))
    initial = tuple(map(recorder.node_of, carried))
    others = (*map(recorder.node_of, additional), *inputs)
    call(recorder, while_loop_op, (*attributes(recorder, modules), initial, others), results)
    return pytree.tree_unflatten(results, second.spec)


def record_map(recorder: ExportTracer, f: Any, xs: Any, args: Any) -> Any:
    """Record a `map` node and return the results."""
    xs, args = _fakes(recorder, xs), _fakes(recorder, args)
    with recorder.paused():
        slices = list(map(_slice, xs))
    branch = Branch(recorder, Sources([("l_args_0", f), ("l_args_1", xs), ("l_args_2", args)]))
    branch.add_inputs([*slices, *args])
    body_result = branch.capture(f, (*slices, *args))
    with recorder.paused():
        check_body(body_result, slices)
        results = [x if x is None else _stacked(x, xs[0].array.shape[0]) for x in body_result.leaves]
    inputs = list(branch.lifted)
    module = module_of(branch, inputs, tuple(map(branch.node_of, body_result.leaves)))
    # Python values in `args` are constants in the graph of the body.
    operands = [x for x in args if isinstance(x, Tensor | SymNumber)]
    first, others = [list(map(recorder.node_of, group)) for group in (xs, operands)]
    graphs = attributes(recorder, {"body_graph": module})
    call(recorder, map_op, (*graphs, first, [*others, *inputs]), results)
    return pytree.tree_unflatten(results, body_result.spec)


def record_scan(recorder: ExportTracer, combine_fn: Any, init: Any, xs: Any, additional: Any) -> Any:
    """Record a `scan` node and return the results."""
    init, xs = _fakes(recorder, init), _fakes(recorder, xs)
    with recorder.paused():
        carry = list(map(_like, init))
        slices = list(map(_slice, xs))
    branch = Branch(recorder, Sources([("l_args_0", combine_fn), ("l_args_1", init), ("l_args_2", xs)]))
    branch.add_inputs([*carry, *slices, *additional])
    body_result = branch.capture(combine_fn, (*carry, *slices, *additional))
    with recorder.paused():
        check_combine(body_result, [*carry, *slices], carry)
        n = xs[0].array.shape[0]
        results = [_like(x) for x in body_result.leaves[: len(init)]]
        results += [_stacked(x, n) for x in body_result.leaves[len(init) :]]
    inputs = list(branch.lifted)
    module = module_of(branch, inputs, list(map(branch.node_of, body_result.leaves)))
    first, second = [list(map(recorder.node_of, group)) for group in (init, xs)]
    others = (*map(recorder.node_of, additional), *inputs)
    graphs = attributes(recorder, {"scan_combine_graph": module})
    call(recorder, scan_op, (*graphs, first, second, others), results)
    return tuple(results)


def _fakes(recorder: ExportTracer, values: Sequence[Any]) -> list[Any]:
    return [recorder.fake_of(x) if isinstance(x, Tensor) else x for x in values]


def _like(x: Tensor) -> Tensor:
    """Create a fake tensor with the metadata of `x`."""
    array = x.array
    return fake_for(MetaArray(array.shape, array.dtype, array.strides), device_of(x), x.requires_grad)


def _slice(x: Tensor) -> Tensor:
    """Create a fake tensor with the metadata of one slice of `x` along the first dimension.

    The new tensor shares no memory with `x`.
    """
    return fake_for(fake_array(x.array.shape[1:], x.array.dtype), device_of(x), x.requires_grad)


def _stacked(x: Tensor, n: Any) -> Tensor:
    return fake_for(fake_array((n, *x.array.shape), x.array.dtype), device_of(x), x.requires_grad)
