"""Executed graphs with PyTorch's executor nodes: type checks, fusion groups and fallback functions.

These nodes replace an executed fusion group with the input %a and the result %y:

    %a1 : Float(3, ...), %ok : bool = prim::TypeCheck[types=[Float(3, ...)]](%a)
    %y : Tensor = prim::If(%ok)
      block0():
        %y1 : Float(3, ...) = prim::TensorExprGroup_0(%a1)
        -> (%y1)
      block1():
        %f : Function = prim::Constant[name="fallback_function", fallback=1]()
        %r : (Tensor) = prim::CallFunction(%f, %a)
        %y2 : Tensor = prim::TupleUnpack(%r)
        -> (%y2)

The checked types are those of the call that created the group's execution plan (`FusedPlan`). The plan also
accepts tensors of other sizes with the same dtypes. If a group did not run, its nodes replace it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ts._core.autograd.differentiable_graph import rule_of_graph
from ts.bytecode.subgraph_functions import KIND as DIFFERENTIABLE_GRAPH
from ts.bytecode.subgraph_functions import DifferentiableRecord
from ts.fusion.fusion_rules import program_of_graph
from ts.fusion.program import KIND as FUSION_GROUP
from ts.fusion.program import FusionGroupRecord
from ts.ir.graph import Graph, Node, Value
from ts.ir.types import BOOL, TENSOR, FunctionType, TensorType, TupleType, erase_shape
from ts.passes.graph_fuser import fuse_fallback
from ts.passes.shape_analysis import propagate_types
from ts.runtime.function import create_function_from_graph


def add_executor_nodes(graph: Graph, code: Any) -> Graph:
    """Insert the checks before the fusion groups and differentiable graphs of `graph`, which `code` executed.

    Return `graph`.
    """
    operators = [operator for operator in code.operators if operator.record is not None]
    rules = iter([rule_of_graph(o) for o in operators if isinstance(o.record, DifferentiableRecord)])
    records = [o.record for o in operators if isinstance(o.record, FusionGroupRecord) and o.record.program]
    for node in graph.find_all_nodes(DIFFERENTIABLE_GRAPH):
        _show_fusion_groups(node["Subgraph"], records)
        _guard_differentiable_graph(node, next(rules, None))
    _show_fusion_groups(graph, records)
    return graph


def match_groups(records: Iterable[Any], nodes: Iterable[Node]) -> list[tuple[Any, Node | None]]:
    """Return a pair (record, node) for each fusion group.

    `node` has the same program as the group's record, or is None if no node has this program.
    """
    unmatched = [(program_of_graph(node["Subgraph"])[0], node) for node in nodes]
    pairs = []
    for record in records:
        at = next((i for i, (program, _) in enumerate(unmatched) if program == record.program), None)
        pairs.append((record, None if at is None else unmatched.pop(at)[1]))
    return pairs


def _show_fusion_groups(graph: Graph, records: list[Any]) -> None:
    nodes = graph.find_all_nodes(FUSION_GROUP)
    for record, node in match_groups(records, nodes):
        plan = None if record.group is None else record.group.last
        if node is None or plan is None or plan.unsupported_reason:
            continue
        if record.program.continues and not plan.runs:
            continue
        nodes.remove(node)
        records.remove(record)
        _guard_fusion_group(node, plan.example_inputs)
    continuing = [node for node in nodes if program_of_graph(node["Subgraph"])[0].continues]
    for node in nodes:
        subgraph = fuse_fallback(node["Subgraph"]) if node in continuing else node["Subgraph"]
        with graph.inserting_before(node):
            _replace(node, graph.insert_graph(subgraph, node.inputs()))
    if continuing:
        _show_fusion_groups(graph, records)


def _guard_fusion_group(node: Node, example_inputs: Sequence[tuple[int, Any, Any] | None]) -> None:
    subgraph: Graph = node["Subgraph"]
    fallback = subgraph.copy()
    examples = dict(zip(program_of_graph(subgraph)[1], example_inputs, strict=True))
    for value in subgraph.inputs():
        if (example := examples.get(value)) is not None:
            value.set_type(TensorType(*example, "cpu", False))
    propagate_types(subgraph)
    input_types = [value.type() for value in subgraph.inputs()]
    group = _insert_guarded(node, "prim::TypeCheck", input_types, "prim::TensorExprGroup", fallback)
    group.set("Subgraph", subgraph, "g")
    for output, inner in zip(group.outputs(), subgraph.outputs(), strict=True):
        output.set_type(inner.type())


def _guard_differentiable_graph(node: Node, rule: Any) -> None:
    subgraph: Graph = node["Subgraph"]
    required = None if rule is None else rule.last_required_grad
    if required is None:
        return
    checked_types = [
        TENSOR.with_(requires_grad=flag) if value.type().is_subtype_of(TENSOR) else value.type()
        for value, flag in zip(subgraph.inputs(), required, strict=True)
    ]
    guarded = _insert_guarded(node, "prim::RequiresGradCheck", checked_types, node.kind(), subgraph.copy())
    guarded.copy_attributes(node)


def _insert_guarded(node: Node, check_kind: str, types: Sequence[Any], kind: str, fallback: Graph) -> Node:
    """Replace `node` by a check of its tensor inputs and a `prim::If`.

    The first block contains a new node of kind `kind`, which is returned. The second block calls the function
    of `fallback`.
    """
    graph, inputs = node.owning_graph(), node.inputs()
    checked = [i for i, type in enumerate(types) if type.is_subtype_of(TENSOR)]
    with graph.inserting_before(node):
        check = graph.insert_node(graph.create(check_kind, [inputs[i] for i in checked], len(checked) + 1))
        check.set("types", [types[i] for i in checked])
        for output, i in zip(check.outputs(), checked, strict=False):
            output.set_type(types[i])
        check.outputs()[-1].set_type(BOOL)
        choice = graph.insert_node(graph.create_if(check.outputs()[-1], len(node.outputs())))
    narrowed = dict(zip(checked, check.outputs(), strict=False))
    fast, slow = choice.blocks()
    with graph.inserting_at_end(fast), graph.at_range(node.range):
        group = graph.insert_node(
            graph.create(kind, [narrowed.get(i, x) for i, x in enumerate(inputs)], len(node.outputs()))
        )
        for old, new in zip(node.outputs(), group.outputs(), strict=True):
            fast.register_output(new.copy_metadata(old))
    with graph.inserting_at_end(slow):
        for value in _insert_fallback_call(graph, fallback, inputs):
            slow.register_output(value)
    _replace(node, choice.outputs())
    return group


def _insert_fallback_call(graph: Graph, fallback: Graph, inputs: Sequence[Value]) -> list[Value]:
    outputs = fallback.outputs()
    result_type = TupleType([erase_shape(value.type()) for value in outputs])
    packed = fallback.append_node(fallback.create("prim::TupleConstruct", outputs)).output()
    packed.set_type(result_type)
    for _ in outputs:
        fallback.erase_output(0)
    fallback.register_output(packed)
    function = create_function_from_graph("fallback_function", fallback)
    constant = graph.insert_node(graph.create("prim::Constant").set("name", function.name, "s"))
    constant.set("fallback", 1).output().set_type(FunctionType(function))
    call = graph.insert_node(graph.create("prim::CallFunction", [constant.output(), *inputs]))
    call.output().set_type(result_type)
    unpack = graph.insert_node(graph.create("prim::TupleUnpack", [call.output()], len(outputs)))
    for value, type in zip(unpack.outputs(), result_type.elements(), strict=True):
        value.set_type(type)
    return unpack.outputs()


def _replace(node: Node, values: Sequence[Value]) -> None:
    for output, value in zip(node.outputs(), values, strict=True):
        value.set_type(erase_shape(output.type()))
        output.replace_all_uses_with(value)
    node.destroy()
