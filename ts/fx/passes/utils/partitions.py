"""Topological sort of sets of nodes, and detection of cycles that the fusion of a set would create.

Example: if `add` uses `other` and `other` uses `relu`, then `validate_partition([relu, add])` returns False.
"""

from __future__ import annotations

import heapq

from ts.fx.node import Node


def topo_sort(nodes: list[Node]) -> list[Node]:
    """Return the nodes in topological order. Independent nodes keep the given order."""
    position = {node: i for i, node in enumerate(nodes)}
    waiting = {node: sum(each in position for each in node.all_input_nodes) for node in nodes}
    ready = [position[node] for node in nodes if not waiting[node]]
    heapq.heapify(ready)
    ordered: list[Node] = []
    while ready:
        node = nodes[heapq.heappop(ready)]
        ordered.append(node)
        for user in node.users:
            if user in waiting:
                waiting[user] -= 1
                if not waiting[user]:
                    heapq.heappush(ready, position[user])
    if len(nodes) != len(ordered):
        raise AssertionError("topological sorted nodes doesn't have same length as input nodes")
    return ordered


def validate_partition(partition: list[Node]) -> bool:
    """Return True if the fusion of the nodes in `partition` creates no cycle.

    This is the case if no path from nodes to their users leaves `partition` and returns to it.
    """
    inside = set(partition)
    outside = [user for node in inside for user in node.users if user not in inside]
    seen: set[Node] = set()
    while outside:
        node = outside.pop()
        if node in inside:
            return False
        if node not in seen:
            seen.add(node)
            outside += node.users
    return True
