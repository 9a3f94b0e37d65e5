"""Operator fusion (pointwise fusion, elementwise fusion): connected pointwise operators become groups.

The pass replaces the nodes on the left by the group on the right:

    %c : Tensor = aten::mul(%a, %b)            %d : Tensor = prim::FusionGroup_0(%a, %b)
    %d : Tensor = aten::tanh(%c)        =>     with prim::FusionGroup_0 = graph(%a : Tensor, %b : Tensor):
                                                 %c : Tensor = aten::mul(%a, %b)
                                                 %d : Tensor = aten::tanh(%c)
                                                 return (%d)

Row-wise operators are `softmax`, normalizations and sums. If they read along the last dimension, the group
continues after them (`x / x.sum(-1, keepdim=True)`). Otherwise, operators that read their results are in
another group. Views (`chunk`, `x[:, 1]`) move into the group that is their only reader. Nodes never move past
a write.

The dtypes and shapes of the inputs decide at run time whether a group runs as one kernel. Otherwise, its
nodes run one by one. For a group that continues after a row-wise operator, `fuse_fallback` first divides the
nodes into groups that do not continue.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ts.analysis.effects import has_side_effects
from ts.analysis.mutation import writes_to_inputs
from ts.fusion.fusion_rules import (
    MAX_EPILOGUES,
    MAX_INPUTS,
    MAX_ROW_STEPS,
    MAX_ROWS,
    MIN_GROUP_OPERATORS,
    extra_inputs,
    is_conversion,
    is_epilogue,
    is_fusible,
    is_tensor,
    operands,
    reads_all_dims,
    reads_last_dim,
    view_node_of,
)
from ts.fusion.program import KIND
from ts.ir.graph import Block, Graph, Node, Value
from ts.passes.pass_logging import debug, optimization_allowed, update
from ts.passes.pass_utils import move_to_subgraph

_MAY_BE_OPERAND: Final = "its result may be its operand itself, and is used outside of the group"
_READS_UNCOMPUTED_ROWS: Final = "it reads rows of an input that no group computes"


def fuse_graph(graph: Graph, rejected: dict[Node, str] | None = None) -> bool:
    """Create fusion groups in all blocks. Return True if the graph changed.

    If the dict `rejected` is passed, store in it for each node without a group the reason.
    """
    if rejected is None and not _may_have_groups(graph):
        return False
    changed = _Fuser(graph.block(), {}, continues=True).run()
    return _Fuser(graph.block(), {} if rejected is None else rejected, continues=False).run() or changed


def fuse_fallback(subgraph: Graph) -> Graph:
    """Return a copy of a group's subgraph, divided into groups that end at row-wise operators.

    A group that continues after row-wise operators runs this graph if it cannot run as one kernel.
    """
    graph = subgraph.copy()
    _Fuser(graph.block(), {}, continues=False).run()
    return graph


def _may_have_groups(graph: Graph) -> bool:
    """Return whether a graph contains fusible nodes. Graphs of pure number arithmetic have none."""
    return "prim::DifferentiableGraph" in graph.kinds() or any(map(is_fusible, graph.all_nodes()))


class _Group:
    """Nodes of one fusion group, in execution order."""

    def __init__(self, node: Node) -> None:
        self.nodes = [node]

    def inputs(self, heads: Iterable[Node] = ()) -> list[Value]:
        """Return the values from outside that the nodes of the group and its views `heads` read.

        Constants other than tensors are omitted, because they are copied into the group.
        """
        nodes = [*heads, *self.nodes]
        group_values = {value for node in nodes for value in node.outputs()}
        operands = dict.fromkeys(value for node in nodes for value in node.inputs())
        return [value for value in operands if value not in group_values and not _is_copied_constant(value)]


class _Fuser:
    """Builder of the fusion groups of one block and its nested blocks.

    If `continues`, build only groups that continue after a row-wise operator. Otherwise, a row-wise operator
    ends its group.
    """

    def __init__(self, block: Block, rejected: dict[Node, str], continues: bool) -> None:
        self.block = block
        self.rejected = rejected
        self.continues = continues
        self.open: dict[Value, _Group] = {}  # results of nodes -> their group, for groups that can still grow
        self.position_of: dict[Node, int] = {}  # nodes of groups -> numbers in program order
        # Views created since the last write, which can be moved into a group
        self.views: dict[Node, None] = {}
        self.changed = False

    def run(self) -> bool:
        for node in list(self.block.nodes()):
            for inner in node.blocks():
                self.changed |= _Fuser(inner, self.rejected, self.continues).run()
            if node.kind() == "prim::DifferentiableGraph":
                block = node["Subgraph"].block()
                self.changed |= _Fuser(block, self.rejected, self.continues).run()
            if node.kind() == "prim::Constant":
                continue
            if is_epilogue(node) and self.add_epilogue(node):
                continue
            operands_or_reason = operands(node)
            if not isinstance(operands_or_reason, str):
                self.join(node)
                continue
            self.rejected[node] = operands_or_reason
            debug("graph_fuser", "{} stays: {}", node, operands_or_reason)
            if any(view_node_of(value) for value in node.outputs()[:1]):
                self.views[node] = None
            if node.blocks() or has_side_effects(node) or writes_to_inputs(node):
                self.close_all(node)
            else:
                self.close(node, node.inputs())
        self.close_all(self.block.return_node())
        return self.changed

    def add_epilogue(self, node: Node) -> bool:
        """Append epilogue `node` to the group of its first input. Return False if no group can take it.

        If the group continues after the epilogue, an epilogue of another value starts a group.
        Epilogues that read all elements, such as a loss, end a group that continues after other epilogues.
        """
        if self.continues and not (reads_last_dim(node) or reads_all_dims(node)):
            return False
        group = self.open.get(node.inputs()[0])
        if (
            group is None
            or is_epilogue(node.inputs()[0].node())
            or sum(map(is_epilogue, group.nodes)) >= (MAX_ROW_STEPS if self.continues else MAX_EPILOGUES)
        ):
            if not self.continues or not reads_last_dim(node):
                return False
            self.close(node, node.inputs())
            self.position_of[node] = len(self.position_of)
            self.open[node.output()] = _Group(node)
            return True
        self.close(node, extra_inputs(node))
        # If the group also computes one of the extra inputs, `close` has finished the group.
        if self.open.get(node.inputs()[0]) is not group:
            return False
        self.position_of[node] = len(self.position_of)
        group.nodes.append(node)
        self.open[node.output()] = group
        return True

    def join(self, node: Node) -> None:
        """Add `node` to the group that computes its inputs.

        If several groups compute inputs, merge them. If no group does, create one.
        """
        self.close(node, extra_inputs(node))
        epilogues = [value for value in node.inputs() if is_epilogue(value.node())]
        self.close(node, [x for x in epilogues if not self.continues or not reads_last_dim(x.node())])
        self.position_of[node] = len(self.position_of)
        groups = list(dict.fromkeys(self.open[value] for value in node.inputs() if value in self.open))
        nodes = [other for group in groups for other in group.nodes]
        if len(nodes) >= MAX_ROWS:
            self.close(node, node.inputs())
            groups = []
        if not groups:
            self.open[node.output()] = _Group(node)
            return
        first = groups[0]
        if len(groups) > 1:
            first.nodes = sorted(nodes, key=self.position_of.__getitem__)
        first.nodes.append(node)
        for other in first.nodes:
            self.open[other.output()] = first

    def close(self, before: Node, values: list[Value]) -> None:
        """Insert the groups that compute `values` before the node `before`, which reads `values`."""
        for value in values:
            group = self.open.get(value)
            if group is not None:
                self.finish_group(group, before)

    def close_all(self, before: Node) -> None:
        for group in list(dict.fromkeys(self.open.values())):
            self.finish_group(group, before)
        self.views.clear()

    def view_inputs(self, group: _Group) -> list[Node]:
        """Return the views that only `group` reads, in dependency order."""
        views: dict[Node, None] = {}
        group_nodes, inputs = set(group.nodes), group.inputs()
        size = len(inputs)
        for value in inputs:
            head, last = view_node_of(value), value.node()
            if head is None or last in views or not {head, last} <= self.views.keys():
                continue
            if {use.user for output in last.outputs() for use in output.uses()} <= group_nodes and (
                head is last or len(head.output().uses()) == 1
            ):
                views.update({head: None, last: None})
                size += len(extra_inputs(head))
        return list(views) if size <= MAX_INPUTS else []

    def finish_group(self, group: _Group, before: Node) -> None:
        """Insert the node of the finished `group` before `before`, or record why the nodes are not fused."""
        for node in group.nodes:
            del self.open[node.output()]
        original_nodes = group.nodes
        group.nodes = _without_shared_conversions(group.nodes, self.continues)
        if self.continues and not _continues_after_rows(group.nodes):
            return
        heads = self.view_inputs(group)
        group_nodes, inputs = set(group.nodes), group.inputs(heads)
        output_nodes = [
            node for node in group.nodes if any(use.user not in group_nodes for use in node.output().uses())
        ]
        reason = _rejection_reason(group.nodes, inputs, output_nodes, before)
        for node in original_nodes:
            if reason:
                self.rejected[node] = reason
            elif node not in group_nodes:
                self.rejected[node] = _READS_UNCOMPUTED_ROWS if is_epilogue(node) else _MAY_BE_OPERAND
        if reason:
            debug("graph_fuser", "{} stay: {}", group.nodes, reason)
            return
        nodes = [*heads, *group.nodes]
        outputs = [node.output() for node in output_nodes]
        update("graph_fuser", "Made {}", move_to_subgraph(KIND, nodes, inputs, outputs, before))
        constant_nodes = {
            value.node() for node in nodes for value in node.inputs() if _is_copied_constant(value)
        }
        for node in reversed(nodes):
            node.destroy()
        for scalar in constant_nodes:
            if not scalar.has_uses():
                scalar.destroy()
        self.changed = True


def _continues_after_rows(nodes: list[Node]) -> bool:
    """Return whether a pointwise operator of a group reads the result of a row-wise operator of the group."""
    results = {node.output() for node in nodes if is_epilogue(node)}
    return any(not results.isdisjoint(node.inputs()) for node in nodes)


def _without_shared_conversions(nodes: list[Node], continues: bool) -> list[Node]:
    """Return `nodes` without some dtype conversions of group inputs.

    A conversion is omitted if nodes outside the group also read its result. If the dtype does not change, the
    conversion must return its operand itself, but a group returns new tensors. Epilogues that read an omitted
    conversion are omitted, too, because an epilogue must read a result of the group, unless the group
    `continues` after row-wise operators.
    """
    group_nodes = set(nodes)
    for node in nodes:
        is_head = is_conversion(node) and group_nodes.isdisjoint(value.node() for value in node.inputs())
        if is_head and any(use.user not in group_nodes for use in node.output().uses()):
            group_nodes.remove(node)
    if not continues:
        group_nodes -= {
            node for node in group_nodes if is_epilogue(node) and node.inputs()[0].node() not in group_nodes
        }
    return [node for node in nodes if node in group_nodes]


def _rejection_reason(nodes: list[Node], inputs: list[Value], output_nodes: list[Node], before: Node) -> str:
    """Return the reason why `nodes` are not fused, or "" if they form a group."""
    if len(nodes) < MIN_GROUP_OPERATORS:
        if before.blocks() or has_side_effects(before) or writes_to_inputs(before):
            return "no operator can be fused with it before the next write or branch"
        return "no neighboring operator can be fused with it"
    if not output_nodes:
        return "its result is not used"
    if len(inputs) > MAX_INPUTS:
        return f"the group would read more than {MAX_INPUTS} values"
    if all(map(is_conversion, nodes)):
        return "the group contains only conversions"
    return "" if optimization_allowed("graph_fuser") else "the limit of the pass is reached"


def _is_copied_constant(value: Value) -> bool:
    """Return whether `value` is a constant other than a tensor, which is copied into the group."""
    return value.node().kind() == "prim::Constant" and not is_tensor(value)
