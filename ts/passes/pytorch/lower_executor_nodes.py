"""Lowering of nodes of PyTorch's executor to ordinary nodes, which `ts` can run.

The left column shows a node. The right column describes the values that replace its outputs:

    prim::profile, prim::profile_ivalue                 their inputs
    prim::TypeCheck[types=[...]](%x...)                 the inputs, and whether all are of their types
    prim::RequiresGradCheck[types=[...]](%x...)         the inputs, and whether `requires_grad` matches
    prim::CudaFusionGuard, prim::TensorExprDynamicGuard     like TypeCheck, but may return the bool only
    prim::Guard[profiled_type=...](%x)                  the tensor, or an error if it has another type
    prim::BailOut(%x, %captured...)                     the tensor. If it has another type, the graph of the
                                                        node runs instead of all following nodes
    prim::FusionGroup, TensorExprGroup, FallbackGraph, DifferentiableGraph, FunctionalGraph ...
                                                        the results of their graph

    prim::ConstantChunk[chunks=3, dim=1](%x)            the chunks, unpacked
    prim::MMTreeReduce(%a, %c, %b, %d)                  the sum of the products of left and right factors
    prim::MMBatchSide[side=0](%a, %b, %c)               the products with a common factor

The pass runs on a copy of the graph when a function is created from a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from ts.analysis.effects import GROUPS
from ts.errors import CompilationError
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import TENSOR, ListType, TensorType
from ts.passes.exit_transform import exit_transform
from ts.passes.insert_type_checks import Check, insert_all, insert_gradient_check, insert_type_check
from ts.passes.pass_logging import optimization_allowed, update

_CHECKS: Final = ("prim::TypeCheck", "prim::CudaFusionGuard", "prim::TensorExprDynamicGuard")


def lower_executor_nodes(graph: Graph) -> bool:
    """Replace executor nodes by ordinary nodes."""
    bails_out = graph.find_node("prim::BailOut") is not None
    changed = _visit(graph.block())
    if changed and bails_out:
        exit_transform(graph)
    return changed


def has_executor_nodes(graph: Graph) -> bool:
    """Return whether the graph contains executor nodes."""
    return not graph.kinds().isdisjoint(_LOWERINGS)


def with_executor_nodes_lowered(graph: Graph) -> Graph:
    """Return a copy of `graph` with lowered executor nodes, or `graph` if it has no such nodes."""
    if not has_executor_nodes(graph):
        return graph
    copy = graph.copy()
    lower_executor_nodes(copy)
    return copy


def _visit(block: Block) -> bool:
    changed = False
    for node in block.nodes():
        for inner in node.blocks():
            changed |= _visit(inner)
        lowering = _LOWERINGS.get(node.kind())
        if lowering is None or not optimization_allowed("lower_executor_nodes"):
            continue
        update("lower_executor_nodes", "Replacing {}", node)
        graph = node.owning_graph()
        with graph.inserting_before(node), graph.at_range(node.range):
            results = lowering(graph, node)
        for output, result in zip(node.outputs(), results, strict=True):
            output.replace_all_uses_with(result)
        node.destroy()
        changed = True
    return changed


def _checked_inputs(graph: Graph, node: Node) -> list[Value]:
    return node.inputs()[: len(node.outputs())]


def _insert_guard(graph: Graph, node: Node) -> list[Value]:
    choice = graph.insert_node(graph.create_if(_insert_profile_check(graph, node, node.output().type())))
    with graph.inserting_at_end(choice.blocks()[1]):
        message = f"a tensor is not {node.get('profiled_type', node.output().type())}, which a guard requires"
        arguments = [graph.insert_constant(message), graph.insert_constant(None)]
        graph.insert_node(graph.create("prim::RaiseException", arguments, 0))
    return [node.input()]


def _insert_profile_check(graph: Graph, node: Node, type: object) -> Value:
    profiled = node.get("profiled_type", type)
    if not isinstance(profiled, TensorType):
        raise CompilationError(f"{node.kind()} requires a tensor type, but has {profiled}", node.range)
    return insert_type_check(graph, node.input(), profiled)


def _bail_out(graph: Graph, node: Node) -> list[Value]:
    if not node.has_attribute("Subgraph"):
        raise CompilationError(f"{node.kind()} has no fallback graph", node.range)
    choice = graph.insert_node(graph.create_if(_insert_profile_check(graph, node, node.output().type())))
    with graph.inserting_at_end(choice.blocks()[1]):
        results = graph.insert_graph(node["Subgraph"], node.inputs())
        graph.insert_node(graph.create("prim::ReturnStmt", results, 0))
    _visit(choice.blocks()[1])
    return [node.input()]


def _check(insert: Callable[[Graph, Value, TensorType], Value], graph: Graph, node: Node) -> list[Value]:
    inputs = node.inputs()
    condition = insert_all(graph, _checks(insert, graph, node))
    return [*inputs[: len(node.outputs()) - 1], condition]


def _checks(insert: Callable[[Graph, Value, TensorType], Value], graph: Graph, node: Node) -> Iterator[Check]:
    types = node.get("types")
    if types is None or len(types) != len(node.inputs()):
        raise CompilationError(f"{node.kind()} requires one type for each tensor", node.range)
    for value, type in zip(node.inputs(), types, strict=True):
        if isinstance(type, TensorType):
            yield partial(insert, graph, value, type)


def _group(graph: Graph, node: Node) -> list[Value]:
    if not node.has_attribute("Subgraph"):
        raise CompilationError(f"{node.kind()} has no graph", node.range)
    subgraph = node["Subgraph"]
    _visit(subgraph.block())
    return graph.insert_graph(subgraph, node.inputs())


def _chunks(graph: Graph, node: Node) -> list[Value]:
    dim = graph.insert_constant(node.get("dim", 0))
    chunks = graph.insert("aten::chunk", [node.input(), graph.insert_constant(node["chunks"]), dim])
    unpack = graph.insert_node(graph.create("prim::ListUnpack", [chunks], len(node.outputs())))
    return unpack.outputs()


def _sum_of_products(graph: Graph, node: Node) -> list[Value]:
    """Emit a sum of products, computed as one product of the concatenated factors.

    If, at run time, not all left factors or not all right factors have the same shape, each product is
    computed separately.
    """
    half = len(node.inputs()) // 2
    lefts, rights = node.inputs()[:half], node.inputs()[half:]
    choice = graph.insert_node(graph.create_if(_insert_shape_checks(graph, [lefts, rights]), 1))
    batched_block, else_block = choice.blocks()
    with graph.inserting_at_end(batched_block):
        factors = [_side_by_side(graph, lefts, 1), _side_by_side(graph, rights, 0)]
        batched_block.register_output(graph.insert("aten::mm", factors))
    with graph.inserting_at_end(else_block):
        total, *others = [graph.insert("aten::mm", [*pair]) for pair in zip(lefts, rights, strict=True)]
        for other in others:
            total = graph.insert("aten::add", [total, other, 1])
        else_block.register_output(total)
    return choice.outputs()


def _batch_side(graph: Graph, node: Node) -> list[Value]:
    """Emit products with a common factor, computed as one product of it and the other factors, concatenated.

    If the shapes of the other factors differ at run time, each product is computed separately.
    """
    common, *others = node.inputs()
    side = node["side"]

    def product(other: Value) -> Value:
        return graph.insert("aten::mm", [common, other] if side == 0 else [other, common])

    choice = graph.insert_node(graph.create_if(_insert_shape_checks(graph, [others]), len(others)))
    batched_block, each = choice.blocks()
    with graph.inserting_at_end(batched_block):
        batched = product(_side_by_side(graph, others, 1 - side))
        chunks = graph.insert("aten::chunk", [batched, len(others), 1 - side])
        for chunk in graph.insert_node(graph.create("prim::ListUnpack", [chunks], len(others))).outputs():
            batched_block.register_output(chunk)
    with graph.inserting_at_end(each):
        for result in [product(other) for other in others]:
            each.register_output(result)
    return choice.outputs()


def _side_by_side(graph: Graph, tensors: list[Value], dim: int) -> Value:
    tensor_list = graph.insert("prim::ListConstruct", tensors, ListType(TENSOR))
    return graph.insert("aten::cat", [tensor_list, dim])


def _insert_shape_checks(graph: Graph, groups: list[list[Value]]) -> Value:
    def insert_size_equality(first: Value, other: Value) -> Value:
        return graph.insert("aten::eq", [graph.insert("aten::size", [x]) for x in (first, other)])

    return insert_all(
        graph, [partial(insert_size_equality, group[0], x) for group in groups for x in group[1:]]
    )


_LOWERINGS: Final[dict[str, Callable[[Graph, Node], list[Value]]]] = {
    **dict.fromkeys(("prim::profile", "prim::profile_ivalue"), _checked_inputs),
    **dict.fromkeys(_CHECKS, partial(_check, insert_type_check)),
    "prim::RequiresGradCheck": partial(_check, insert_gradient_check),
    "prim::Guard": _insert_guard,
    "prim::BailOut": _bail_out,
    "prim::ConstantChunk": _chunks,
    "prim::MMTreeReduce": _sum_of_products,
    "prim::MMBatchSide": _batch_side,
    **dict.fromkeys(GROUPS, _group),
}
