"""Creation of differentiable graphs from connected operators, as in PyTorch's pass of this name.

The pass replaces the nodes on the left by the groups on the right:

    %a : Tensor = aten::mul(%x, %y)              %a : Tensor = prim::DifferentiableGraph_0(%x, %y)
    %b : Tensor = aten::tanh(%z)           =>    %c : Tensor = prim::DifferentiableGraph_1(%z)
    %c : Tensor = aten::relu(%b)                 with prim::DifferentiableGraph_1 = graph(%z : Tensor): ...

Each differentiable operator becomes a group. A group absorbs the operators that compute its arguments, unless
a node with side effects is in between. Unconnected operators stay in separate groups. In contrast,
`create_autodiff_subgraphs` combines them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from ts.analysis.alias import AliasDb
from ts.analysis.effects import has_side_effects
from ts.ir.graph import Block, Graph, Node, Value
from ts.passes.create_functional_graphs import group_of, inline_group, merge_into_group
from ts.passes.pass_logging import optimization_allowed, update

_LIST = "prim::ListConstruct"


def slice_autodiff_subgraphs(
    graph: Graph,
    kind: str,
    threshold: int,
    is_differentiable: Callable[[Node], bool],
    results: Collection[Value],
    has_lists: bool,
) -> bool:
    """Create groups of `kind` with at least `threshold` operators. Return True if a group was created.

    A group that reads a value in `results` does not contain the node that computes this value. If
    `has_lists`, the groups contain the nodes that construct the lists of tensors that they read.
    """
    if has_lists:
        _copy_shared_lists(graph.block(), is_differentiable)
    slicer = _Slicer(AliasDb(graph), kind, threshold, is_differentiable, set(results), has_lists)
    return slicer.run(graph.block())


class _Slicer:
    def __init__(
        self,
        aliases: AliasDb,
        kind: str,
        threshold: int,
        is_differentiable: Callable[[Node], bool],
        results: set[Value],
        has_lists: bool,
    ) -> None:
        self._aliases = aliases
        self._kind = kind
        self._threshold = threshold
        self._is_differentiable = is_differentiable
        self._results = results
        self._has_lists = has_lists

    def run(self, block: Block) -> bool:
        """Create the groups of `block` and of its nested blocks."""
        changed = False
        for node in block.nodes():
            for inner in node.blocks():
                changed |= self.run(inner)
        while self._scan(block):
            pass
        for node in list(block.nodes()):
            if node.kind() == self._kind:
                changed |= self._finish(node)
        return changed

    def _scan(self, block: Block) -> bool:
        """Create and extend groups from last to first node. Return True if the block changed.

        One scan is not sufficient, because merging may move nodes toward the end of the block.
        """
        changed = False
        node = block.return_node().prev()
        while node is not block.return_node():
            if self._is_differentiable(node) and optimization_allowed("create_autodiff_subgraphs"):
                node = group_of(node, self._kind, self._aliases)
                changed = True
            if node.kind() == self._kind:
                changed |= self._absorb_producers(node, _previous_barrier(node))
            node = node.prev()
        return changed

    def _absorb_producers(self, group: Node, barrier: Node) -> bool:
        """Move nodes that compute inputs of `group` into `group`. Only nodes after `barrier` are moved."""
        changed, merged = False, True
        while merged:
            producers = {value.node() for value in group.inputs()}
            ordered = sorted(producers, key=lambda node: node._position, reverse=True)
            candidates = [node for node in ordered if self._may_absorb(node, group, barrier)]
            merged = any(self._absorb(node, group) for node in candidates)
            changed |= merged
        return changed

    def _may_absorb(self, node: Node, group: Node, barrier: Node) -> bool:
        block = group.owning_block()
        if node.owning_block() is not block or self._results.intersection(node.outputs()):
            return False
        is_after_barrier = barrier is block.return_node() or barrier.is_before(node)
        return is_after_barrier and self._is_differentiable(node)

    def _absorb(self, node: Node, group: Node) -> bool:
        if not self._aliases.move_before_topologically_valid(node, group):
            return False
        merge_into_group(node, group, self._aliases)
        self._aliases.forget_group(group)
        return True

    def _finish(self, group: Node) -> bool:
        """Move constant arguments and lists into `group`. Inline the group if it has too few operators."""
        if self._has_lists:
            for node in {value.node() for value in group.inputs()}:
                if node.kind() == _LIST and all(use.user is group for use in node.output().uses()):
                    self._absorb(node, group)
        _sink_constants(group)
        operators = [node for node in group["Subgraph"].nodes() if self._is_differentiable(node)]
        if len(operators) < self._threshold:
            inline_group(group)
            return False
        update("create_autodiff_subgraphs", "Made {}", group)
        return True


def _previous_barrier(node: Node) -> Node:
    """Return the last node before `node` in its block that has side effects, or the block's return node."""
    end = node.owning_block().return_node()
    previous = node.prev()
    while previous is not end and not has_side_effects(previous):
        previous = previous.prev()
    return previous


def _sink_constants(group: Node) -> None:
    """Copy each constant argument of a group before its first use in the group's graph."""
    inner = group["Subgraph"]
    for i in reversed(range(len(group.inputs()))):
        producer = group.input(i).node()
        if producer.kind() == "prim::Constant":
            inner_input = inner.inputs()[i]
            first = min((use.user for use in inner_input.uses()), key=lambda node: node._position)
            copy = inner.create_clone(producer, {}).insert_before(first)
            inner_input.replace_all_uses_with(copy.output())
            inner.erase_input(i)
            group.remove_input(i)


def _copy_shared_lists(block: Block, is_differentiable: Callable[[Node], bool]) -> None:
    """Copy lists of tensors, so that each differentiable operator that reads a list has a copy of its own."""
    for node in list(block.nodes()):
        for inner in node.blocks():
            _copy_shared_lists(inner, is_differentiable)
        if not is_differentiable(node):
            continue
        for i, value in enumerate(node.inputs()):
            source = value.node()
            if source.kind() == _LIST and len(value.uses()) > 1:
                copy = node.owning_graph().create_clone(source, {x: x for x in source.inputs()})
                node.replace_input(i, copy.insert_before(node).output())
