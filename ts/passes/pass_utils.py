"""Helpers of passes for ifs, loops, blocks and constants.

These nodes represent an `if` and a loop. The right column describes their blocks:

    prim::If(%condition)                         two blocks without inputs, each with the node's outputs
    prim::Loop(%max_trips, %condition, %x...)    one block (%trip, %x...) -> (%again, %x...)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from typing import Any, Final, TypeVar

from ts.devices import device
from ts.ir.graph import Block, Graph, Node, Value

Run = TypeVar("Run", bound=Callable[..., bool])

INT64_MAX: Final = 2**63 - 1
LOOP_INPUTS: Final = 2  # number of loop inputs before the carried values: trip count, condition
BODY_INPUTS: Final = 1  # number of loop body inputs before the carried values: iteration number


class _NotConstant:
    """Sentinel that `constant_value` returns for non-constant values, distinct from a constant None."""

    def __repr__(self) -> str:
        return "NOT_CONSTANT"


NOT_CONSTANT: Final = _NotConstant()

# What the decorators `preserves` and `applies_to` state about the passes
_preserved_analyses: dict[Callable[..., object], tuple[Callable[[Graph], Any], ...]] = {}
_relevant_node_kinds: dict[Callable[..., object], frozenset[str]] = {}


def constant_value(value: Value) -> Any:
    """Return the Python value of a `prim::Constant`'s output, or NOT_CONSTANT for any other value."""
    node = value.node()
    if node.kind() != "prim::Constant":
        return NOT_CONSTANT
    if not node.has_attribute("value"):
        return None
    constant = node.get("value")
    kind = value.type().kind()
    if kind == "DeviceObjType":
        return device(constant)
    return bool(constant) if kind == "BoolType" else constant


def move_to_subgraph(
    kind: str, nodes: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value], before: Node
) -> Node:
    """Insert a node of kind `kind` whose subgraph contains copies of `nodes`.

    The outputs of the new node replace `outputs`. Values that `nodes` read must be in `inputs`, computed by
    `nodes`, or constants. Constants are copied. The caller destroys `nodes`.
    """
    subgraph = Graph()
    copies = {value: subgraph.add_input().copy_metadata(value) for value in inputs}
    new_node = before.owning_graph().create(kind, inputs, len(outputs)).insert_before(before)
    for node in nodes:
        for value in node.inputs():
            if value not in copies:
                constant = subgraph.create_clone(value.node(), copies)
                copies[value] = subgraph.append_node(constant).output()
        copy = subgraph.append_node(subgraph.create_clone(node, copies))
        copies.update(zip(node.outputs(), copy.outputs(), strict=True))
    new_node.copy_metadata(nodes[-1])
    new_node.set("Subgraph", subgraph, "g")
    for value, result in zip(outputs, new_node.outputs(), strict=True):
        subgraph.register_output(copies[value])
        result.copy_metadata(value)
        value.replace_all_uses_with(result)
    return new_node


def inline_block_before(block: Block, node: Node) -> None:
    """Move the nodes of `block` before `node`. The outputs of the block are unchanged."""
    for inner in block.nodes():
        inner.move_before(node)


def walk_nodes(block: Block) -> Iterator[Node]:
    """Yield all nodes of a block and of nested blocks, in program order."""
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from walk_nodes(inner)


def change_loops(block: Block, change: Callable[[Node], bool]) -> bool:
    """Call `change` on all loops, inner loops first, and return whether a call returned True.

    Due to this order, a node can be hoisted out of several nested loops.
    """
    changed = False
    for node in block.nodes_with_blocks():
        for inner in node.blocks():
            changed |= change_loops(inner, change)
        if node.kind() == "prim::Loop":
            changed |= change(node)
    return changed


def preserves(*analyses: Callable[[Graph], Any]) -> Callable[[Run], Run]:
    """Return a decorator for a pass.

    It states that results of `analyses` (`AliasDb`) stay valid when the pass changes a graph.
    """

    def mark(run: Run) -> Run:
        _preserved_analyses[run] = analyses
        return run

    return mark


def preserved_analyses(run: Callable[[Graph], object]) -> tuple[Callable[[Graph], Any], ...]:
    """Return the analyses whose results a pass preserves."""
    return _preserved_analyses.get(run, ())


def applies_to(*kinds: str) -> Callable[[Run], Run]:
    """Return a decorator that states which kinds of nodes a pass changes, directly or by their context.

    A pipeline skips the pass if a graph has none of these `kinds`.
    """

    def mark(run: Run) -> Run:
        _relevant_node_kinds[run] = frozenset(kinds)
        return run

    return mark


def relevant_node_kinds(run: Callable[[Graph], object]) -> frozenset[str] | None:
    """Return the node kinds that the pass `run` changes, or None without an `applies_to` decorator."""
    return _relevant_node_kinds.get(run)


class LoopKind(Enum):
    """Kinds of loops: FOR has a trip count, WHILE a condition, MODIFIED both (`for` with `break`)."""

    FOR = auto()
    WHILE = auto()
    MODIFIED = auto()


def loop_kind(loop: Node) -> LoopKind:
    """Return the kind of a `prim::Loop`. `while True` is a FOR loop, because its condition is constant."""
    trips, condition = loop.inputs()[:LOOP_INPUTS]
    body = loop.blocks()[0]
    if constant_value(condition) is True and constant_value(body.outputs()[0]) is True:
        return LoopKind.FOR
    if constant_value(trips) == INT64_MAX and not body.inputs()[0].has_uses():
        return LoopKind.WHILE
    return LoopKind.MODIFIED


def run_on_methods(handle: Any, run: Callable[[Any], Any]) -> None:
    """Apply a graph pass to a copy of each method's graph and install the results in the module's type.

    `handle` is a handle of a scripted module (`scripted._c`).
    """
    methods = handle._type().methods
    for name, method in list(methods.items()):
        graph = method.graph.copy()
        run(graph)
        methods[name] = method.with_graph(graph, method.qualified_name, method.schema)
