"""Grouping of differentiable operators into differentiable graphs.

A differentiable graph contains functional tensor operators and the tensor lists that they read. It ends
before the first node that writes, branches or has side effects. It also ends before a node that reads its
results and cannot be added. If the program reads `grad` or the autograd history of a result, nodes that read
the result are in another graph.

The graph's non-tensor inputs must be equal in all calls, because the differentiation is specialized to them.

This example shows a graph before and after the pass:

    %t : Tensor = aten::mul(%x, %w)        %y : Tensor = prim::DifferentiableGraph_0(%x, %w)
    %y : Tensor = aten::tanh(%t)     =>    with prim::DifferentiableGraph_0 = graph(%x : Tensor, %w : Tensor):
                                             %t : Tensor = aten::mul(%x, %w)
                                             %y : Tensor = aten::tanh(%t)
                                             return (%y)
"""

from __future__ import annotations

from typing import Final

from ts._core.builtin_ops.properties import names_with
from ts.analysis.effects import has_side_effects, is_nondeterministic, reads_history
from ts.analysis.mutation import writes_to_inputs
from ts.ir import types
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import ListType, OptionalType, Type
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import move_to_subgraph

KIND: Final = "prim::DifferentiableGraph"
THRESHOLD: Final = 2
_MAX_INPUTS: Final = 60
_MAX_OUTPUTS: Final = 24
_NUMBERS: Final = frozenset({"IntType", "BoolType"})
_LISTS: Final = ("prim::ListConstruct", "prim::ListUnpack")


_inlines_small_subgraphs = True  # whether graphs with fewer than THRESHOLD operators are inlined


def set_subgraph_inlining(enabled: bool) -> None:
    """Set whether small differentiable graphs are inlined. Programs already compiled do not change."""
    global _inlines_small_subgraphs
    _inlines_small_subgraphs = enabled


def create_autodiff_subgraphs(graph: Graph, threshold: int | None = None) -> bool:
    """Create differentiable graphs in all blocks, and return True if a graph was created.

    By default, graphs are as large as possible and have at least `THRESHOLD` operators. With `threshold`, or
    after `set_subgraph_inlining(False)`, a graph contains only connected operators. It has at least
    `threshold` operators (default: 1), as in PyTorch's pass.
    """
    results = _find_differentiated_values(graph.block())
    if threshold is None and _inlines_small_subgraphs:
        return _Subgraphs(graph.block(), THRESHOLD, results).run()
    # imported here, because the module is used only with `threshold` or after `set_subgraph_inlining(False)`
    from ts.passes.slice_autodiff_subgraphs import slice_autodiff_subgraphs

    if threshold is None:
        return slice_autodiff_subgraphs(graph, KIND, 1, _is_sliced, results, has_lists=True)
    return slice_autodiff_subgraphs(graph, KIND, threshold, _is_grouped_by_pytorch, (), has_lists=False)


def _find_differentiated_values(block: Block) -> set[Value]:
    """Return the values whose gradient or autograd history is read by a node of `block`."""
    differentiated: set[Value] = set()
    for node in block.nodes():
        for inner in node.blocks():
            differentiated |= _find_differentiated_values(inner)
        if reads_history(node):
            for value in node.inputs():
                is_list = value.node().kind() == "prim::ListConstruct"
                differentiated.update(value.node().inputs() if is_list else [value])
    return differentiated


class _Subgraphs:
    """Builder of the differentiable graphs of one block and of its nested blocks."""

    def __init__(self, block: Block, threshold: int, differentiated: set[Value]) -> None:
        self.block = block
        self.threshold = threshold
        self.differentiated = differentiated
        self.nodes: list[Node] = []  # nodes of the graph under construction
        self.inside: set[Value] = set()  # results of `nodes`
        # Whether a node in `nodes` draws random numbers or updates running statistics
        self.has_effects = False
        self.changed = False

    def run(self) -> bool:
        for node in list(self.block.nodes()):
            for inner in node.blocks():
                self.changed |= _Subgraphs(inner, self.threshold, self.differentiated).run()
            if node.kind() in ("prim::Constant", "prim::GetAttr"):
                continue
            if any(x in self.inside and x in self.differentiated for x in node.inputs()):
                self.finish_group(node)
            reads_group = not self.inside.isdisjoint(node.inputs())
            if _is_joined(node, reads_group, self.inside) and not _returns_several_views(node, self.inside):
                self.nodes.append(node)
                self.inside.update(node.outputs())
                self.has_effects |= is_nondeterministic(node)
            elif reads_group or self.has_effects or _is_barrier(node):
                self.finish_group(node)
        self.finish_group(self.block.return_node())
        return self.changed

    def finish_group(self, before: Node) -> None:
        """Finish the current differentiable graph, and start a new one.

        Insert the node of the finished graph before the node `before`.
        """
        nodes, self.nodes, self.inside, self.has_effects = self.nodes, [], set(), False
        operators = [node for node in nodes if _is_operator(node)]
        if len(operators) < self.threshold:
            return
        copied_lists = _copy_lists(nodes, before)
        inner_values = dict.fromkeys(value for node in nodes for value in node.outputs())
        operands = dict.fromkeys(value for node in nodes for value in node.inputs())
        inputs = [x for x in operands if x not in inner_values and x.node().kind() != "prim::Constant"]
        members = set(nodes)
        outputs = [x for x in inner_values if any(use.user not in members for use in x.uses())]
        is_within_limits = 0 < len(outputs) <= _MAX_OUTPUTS and len(inputs) <= _MAX_INPUTS
        if not is_within_limits or not any(x.type().is_subtype_of(types.TENSOR) for x in inputs):
            return
        if optimization_allowed("create_autodiff_subgraphs"):
            update(
                "create_autodiff_subgraphs",
                "Made {}",
                move_to_subgraph(KIND, nodes, inputs, outputs, before),
            )
            for node in reversed(nodes):
                node.destroy()
            for node in copied_lists:
                node.move_before(before)
            self.changed = True


def _is_joined(node: Node, reads_group: bool, group_values: set[Value]) -> bool:
    """Return whether `node` may be added to a differentiable graph.

    `reads_group` is True if `node` reads a result of the graph. `group_values` are the results of all nodes
    in the graph.
    """
    if node.blocks():
        return False
    if node.kind() == "prim::ListUnpack":
        return node.input() in group_values
    if node.kind() == "prim::ListConstruct":
        return all(_is_tensor(x.type()) for x in node.inputs()) and _is_read_by_operators(node.output())
    if not _is_operator(node) or has_side_effects(node) or writes_to_inputs(node):
        return False
    if not all(_is_readable_operand(x, group_values) for x in node.inputs()):
        return False
    return all(_is_tensor(x.type()) or _is_unpacked(x) for x in node.outputs())


def _returns_several_views(node: Node, group_values: set[Value]) -> bool:
    """Return whether results of a node such as `aten::split` would be results of its differentiable graph.

    In-place operators on results of `split` raise an error, but the results of a differentiable graph allow
    in-place operators. As in PyTorch, such a node is therefore no part of a graph if several of its results
    leave the graph, or one result and its base.
    """
    views = list(node.outputs())
    if len(views) == 1 and _is_unpacked(views[0]):
        views = list(views[0].uses()[0].user.outputs())
    elif node.kind() != "prim::ConstantChunk":
        return False
    base = node.input(0)
    leaving = sum(map(_leaves_group, views)) + (base not in group_values or _leaves_group(base))
    return leaving > 1 and any(map(_leaves_group, views))


def _leaves_group(value: Value) -> bool:
    """Return whether a node that no differentiable graph contains reads `value`."""
    for use in value.uses():
        if use.user.kind() == "prim::ListConstruct":
            if not _is_read_by_operators(use.user.output()):
                return True
        elif not _is_operator(use.user):
            return True
    return False


def _is_operator(node: Node) -> bool:
    """Return whether a node is a differentiable tensor operator."""
    if node.kind() in _LISTS or node.blocks():
        return False
    record = getattr(node.operator(), "record", None)
    if record is None or record.variant or record.on_grids:
        return False
    # Operators that user functions implement (`of_program`) are excluded, because a graph with them could not
    # be serialized.
    return not record.reads_history and not record.of_program


def _is_grouped_by_pytorch(node: Node) -> bool:
    """Return whether PyTorch adds nodes of the kind of `node` to differentiable graphs."""
    return _is_operator(node) and bool(node.operator().record.has_graph_autodiff)


def _is_sliced(node: Node) -> bool:
    """Return whether PyTorch adds `node` to differentiable graphs and `ts` can differentiate `node`."""
    if not _is_grouped_by_pytorch(node) or not all(_is_tensor(x.type()) for x in node.outputs()):
        return False
    return all(_is_readable_operand(x, set()) or _is_list_of_tensors(x) for x in node.inputs())


def _is_list_of_tensors(value: Value) -> bool:
    """Return whether a value is a list constructed from tensors, and read only by operators."""
    node = value.node()
    if node.kind() != "prim::ListConstruct" or not _is_read_by_operators(value):
        return False
    return all(_is_tensor(x.type()) for x in node.inputs())


def _is_tensor(type: Type) -> bool:
    return type.is_subtype_of(types.TENSOR) or (
        isinstance(type, OptionalType) and type.elem.is_subtype_of(types.TENSOR)
    )


def _is_unpacked(value: Value) -> bool:
    """Return whether a value is a list of tensors used only by one `prim::ListUnpack`."""
    type = value.type()
    if not isinstance(type, ListType) or not type.elem.is_subtype_of(types.TENSOR):
        return False
    return len(value.uses()) == 1 and value.uses()[0].user.kind() == "prim::ListUnpack"


def _is_read_by_operators(value: Value) -> bool:
    return all(_is_operator(use.user) and not writes_to_inputs(use.user) for use in value.uses())


def _is_readable_operand(value: Value, group_values: set[Value]) -> bool:
    """Return whether a differentiable graph may read `value`, a tensor or a call-invariant value."""
    return value in group_values or _is_tensor(value.type()) or _is_call_invariant(value)


def _is_call_invariant(value: Value, depth: int = 4) -> bool:
    """Return whether a non-tensor value is known to be equal in all calls."""
    node, type = value.node(), value.type()
    if node.kind() == "prim::Constant":
        return True
    element = type.elem if isinstance(type, ListType) else type
    if element.kind() not in _NUMBERS or depth == 0:
        return False
    if node.kind() == "prim::Param":
        return node.owning_block().owning_node() is None
    if node.kind() == "prim::GetAttr":
        return True
    if node.kind() in names_with("size_query"):
        return True
    if node.blocks() or has_side_effects(node):
        return False
    scalar = node.kind() == "prim::ListConstruct" or getattr(node.operator(), "scalar", False)
    return scalar and all(_is_call_invariant(x, depth - 1) for x in node.inputs())


def _is_barrier(node: Node) -> bool:
    """Return whether no node may move past `node`, because it writes, has side effects, or has blocks."""
    return bool(node.blocks()) or has_side_effects(node) or writes_to_inputs(node)


def _copy_lists(nodes: list[Node], before: Node) -> list[Node]:
    """Copy the lists that `nodes` construct and that nodes outside the graph read. Return the copies.

    Nodes outside the graph then read the copies.
    """
    group_nodes, copies = set(nodes), []
    for node in nodes:
        if node.kind() != "prim::ListConstruct":
            continue
        others = [use for use in node.output().uses() if use.user not in group_nodes]
        if others:
            graph = before.owning_graph()
            copy = graph.create_clone(node, {x: x for x in node.inputs()}).insert_before(before)
            for use in others:
                use.user.replace_input(use.offset, copy.output())
            copies.append(copy)
    return copies
