"""Graph partitioning (capability-based partitioner), which finds maximal partitions of supported nodes.

Example:

    support = OperatorSupport({"torch.relu": None, "_operator.add": None})
    partitioner = CapabilityBasedPartitioner(module, support)
    partitioner.partition_and_fuse()              # a module with one submodule call per partition

At first, each supported node is a separate partition. Two partitions are merged unless the merge would create
a cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ts.fx.graph_module import GraphModule
from ts.fx.node import Node
from ts.fx.passes.operator_support import OperatorSupportBase
from ts.fx.passes.utils.fuser_utils import fuse_by_partitions
from ts.fx.torch_names import qualified_name
from ts.unsupported import names_for

__all__ = ["CapabilityBasedPartitioner", "Partition"]

_GETITEM: Final = "_operator.getitem"


class Partition:
    """Set of nodes, with their positions in the graph if known."""

    def __init__(
        self,
        id: int | None = None,
        nodes: Iterable[Node] | None = None,
        node_orders: Iterable[int] | None = None,
    ) -> None:
        self.id = id
        members = list(nodes or ())
        orders = [None] * len(members) if node_orders is None else list(node_orders)
        if len(members) != len(orders):
            raise AssertionError("nodes and node_orders must have the same length")
        self.nodes: dict[Node, int | None] = dict(zip(members, orders, strict=True))

    def __repr__(self) -> str:
        return str(self.nodes)

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        """Add a node."""
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        """Remove a node."""
        del self.nodes[node]

    def size(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)


class _PartitionTable:
    """Current partitions by id, and the partition of each node."""

    def __init__(self) -> None:
        self.by_id: dict[int, Partition] = {}
        self.of: dict[Node, int] = {}
        self.order: dict[int, int] = {}  # partition id -> smallest id of the partitions merged into it

    def put(self, node: Node, id: int, node_order: int | None) -> None:
        if node in self.of:
            self.by_id[self.of[node]].remove_node(node)
        self.of[node] = id
        self.by_id.setdefault(id, Partition(id)).add_node(node, node_order)
        self.order.setdefault(id, id)

    def take(self, node: Node) -> None:
        self.by_id[self.of.pop(node)].remove_node(node)

    def merge(self, one: int, other: int) -> int:
        """Merge partitions `one` and `other`, unless the merged partition would depend on itself.

        Return the id of the merged partition. If the partitions are not merged, return `one`.
        """
        nodes = {**self.by_id[one].nodes, **self.by_id[other].nodes}
        if self._creates_cycle(nodes):
            return one
        target, source = (
            (other, one) if len(self.by_id[one].nodes) < len(self.by_id[other].nodes) else (one, other)
        )
        self.by_id[target].nodes.update(self.by_id[source].nodes)
        for node in self.by_id.pop(source).nodes:
            self.of[node] = target
        self.order[target] = min(self.order[target], self.order.pop(source))
        return target

    def _creates_cycle(self, nodes: dict[Node, int | None]) -> bool:
        """Return True if a path along uses leaves the set `nodes` and returns to the set.

        Each step of a path leads from a node to one of its users. A partition later becomes a single node.
        Therefore, a path that enters another partition may leave it from any of its nodes.
        """
        todo = [user for node in nodes for user in node.users if user not in nodes]
        seen: set[Node] = set(todo)
        while todo:
            node = todo.pop()
            partition_id = self.of.get(node)
            for each in (node,) if partition_id is None else self.by_id[partition_id].nodes:
                for user in each.users:
                    if user in nodes:
                        return True
                    if user not in seen:
                        seen.add(user)
                        todo.append(user)
        return False


class CapabilityBasedPartitioner:
    """Graph partitioner for the graph of a module.

    operator_support                    object that decides whether a partition may contain a node
    allows_single_node_partition        keep partitions with only one compute node
    non_compute_ops                     names of functions that are not compute nodes
    allowed_single_node_partition_ops   names of functions whose call may be the only node of a partition
    skip_horizontal_fusion              merge two partitions only if one uses a value of the other
    """

    def __init__(
        self,
        graph_module: GraphModule,
        operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False,
        non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None,
        skip_horizontal_fusion: bool = False,
    ) -> None:
        self.graph_module = graph_module
        self.operator_support = operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = non_compute_ops or []
        self.allowed_single_node_partition_ops = allowed_single_node_partition_ops or []
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def _is_node_supported(self, node: Node) -> bool:
        return self.operator_support.is_node_supported(dict(self.graph_module.named_modules()), node)

    def propose_partitions(self) -> list[Partition]:
        """Return the partitions of supported nodes."""
        partitions = _PartitionTable()
        count = 0
        for node_order, node in enumerate(reversed(self.graph_module.graph.nodes)):
            mine = []
            if self._is_node_supported(node):
                partitions.put(node, count, node_order)
                mine = [count]
                count += 1
            if self.skip_horizontal_fusion:
                others = [partitions.of[user] for user in node.users if mine and user in partitions.of]
            else:
                others = sorted(partitions.order, key=lambda p: partitions.order[p])
            candidates = list(dict.fromkeys([*mine, *others]))
            current = candidates[0] if candidates else -1
            for other in candidates[1:]:
                if other in partitions.by_id and other != current:
                    current = partitions.merge(current, other)
        for partition in partitions.by_id.values():
            partition.nodes = dict(
                sorted(partition.nodes.items(), key=lambda item: item[1] or 0, reverse=True)
            )
        self._assign_items(partitions)
        if not self.allows_single_node_partition:
            for id in [id for id, partition in partitions.by_id.items() if self._computes(partition) <= 1]:
                del partitions.by_id[id]
        return [partition for partition in partitions.by_id.values() if partition.size()]

    def _assign_items(self, partitions: _PartitionTable) -> None:
        """Assign `getitem` nodes to the partition of the node whose tuple they read.

        If this node is in no partition, remove the `getitem` nodes from their partitions. The method changes
        only nodes whose users are all `getitem` nodes.
        """
        moved = True
        while moved:
            moved = False
            for node in self.graph_module.graph.nodes:
                if not all(self._is_function(user, {_GETITEM}) for user in node.users):
                    continue
                home = partitions.of.get(node)
                for user in node.users:
                    if partitions.of.get(user) == home:
                        continue
                    moved = True
                    if home is None:
                        partitions.take(user)
                    else:
                        partitions.put(user, home, None)

    @staticmethod
    def _is_function(node: Node, names: set[str]) -> bool:
        return node.op == "call_function" and qualified_name(node.target) in names

    def _computes(self, partition: Partition) -> int:
        """Return the number of compute nodes in a partition.

        A call of a function in `allowed_single_node_partition_ops` counts as an additional compute node, so
        that a partition may consist of this call alone.
        """
        idle = {"torch.ops.aten.view", _GETITEM, *self.non_compute_ops}
        count = 0
        for node in partition.nodes:
            if node.op == "call_function":
                name = qualified_name(node.target)
                count += (name not in idle) + (name in self.allowed_single_node_partition_ops)
        return count

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """Replace each of the given partitions by a call of a submodule, and return the module."""
        return fuse_by_partitions(self.graph_module, [p.nodes for p in partitions], prefix=prefix)

    def remove_bookend_non_compute_ops(self, partitions: list[Partition]) -> None:
        """Remove calls of `non_compute_ops` from the beginning and the end of the partitions."""
        for partition in partitions:
            removed: set[Node] = set()
            for forwards in (True, False):
                nodes = sorted(partition.nodes, reverse=not forwards)
                for node in nodes:
                    around = node.all_input_nodes if forwards else node.users
                    outside = all(
                        x.op == "placeholder" or x not in partition.nodes or x in removed for x in around
                    )
                    if outside and self._is_function(node, set(self.non_compute_ops)):
                        removed.add(node)
            for node in removed:
                partition.remove_node(node)

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """Replace each proposed partition by a call of a submodule, and return the module."""
        return self.fuse_partitions(self.propose_partitions(), prefix=prefix)


__getattr__ = names_for(__name__)
