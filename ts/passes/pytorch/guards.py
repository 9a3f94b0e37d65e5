"""Guards and bail-outs of PyTorch's profiling executor, run by `ts._C` functions and by no pipeline.

The left column contains the pass, the right column its effect:

    insert_guards        %p : Tensor = prim::profile[profiled_type=T](%x)    =>    %p : T = prim::Guard(%x)
    eliminate_guards     guards move to the definitions of their values and are merged. A guard of an
                         operator's result is removed if the guards of the operator's inputs imply it
    insert_bail_outs     %p : T = prim::Guard(%x)    =>    %p : T = prim::BailOut_0(%x, %captured...)

A bail-out node contains a graph of the remaining program, including the remaining iterations of loops. The
graph's inputs are the guarded tensor and the captured values. `lower_executor_nodes` makes graphs with these
nodes executable.
"""

from __future__ import annotations

from typing import Any, Final

from ts.analysis.effects import has_side_effects, is_nondeterministic
from ts.analysis.mutation import writes_to_inputs
from ts.ir.graph import Block, Graph, Node, Value
from ts.ir.types import TensorType
from ts.passes.dce import eliminate_dead_code
from ts.passes.erase_shapes import erase_shape_information
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import walk_nodes

_GUARD: Final = "prim::Guard"
_PROFILES: Final = ("prim::profile", "prim::profile_ivalue")


def insert_guards(graph: Graph) -> bool:
    """Replace profile nodes of tensors by guards, and remove other profile nodes."""
    changed = False
    for node in list(walk_nodes(graph.block())):
        if node.kind() not in _PROFILES or not optimization_allowed("guards"):
            continue
        update("guards", "Guarding what {} has seen", node)
        profiled = node.get("profiled_type")
        for value, output in zip(node.inputs(), node.outputs(), strict=True):
            guarded = value
            if node.kind() == "prim::profile" and isinstance(profiled, TensorType) and profiled.is_refined():
                guard = graph.create(_GUARD, [value]).set("profiled_type", profiled, "ty")
                guard.copy_metadata(node)
                guard.insert_before(node)
                guarded = guard.output().set_type(profiled)
            output.replace_all_uses_with(guarded)
        node.destroy()
        changed = True
    return changed


def remove_profiles(graph: Graph) -> bool:
    """Replace all profile nodes by their inputs."""
    changed = False
    for node in list(walk_nodes(graph.block())):
        if node.kind() in _PROFILES and optimization_allowed("guards"):
            for value, output in zip(node.inputs(), node.outputs(), strict=True):
                output.replace_all_uses_with(value)
            node.destroy()
            changed = True
    return changed


# -- elimination of guards ---------------------------------------------------------------------------------


def eliminate_guards(graph: Graph) -> bool:
    """Eliminate guards.

    Guards move to the definitions of their tensors, guards of the same tensor are merged, and guards implied
    by others are removed.
    """
    changed = _move_to_definitions(graph)
    changed |= _join(graph)
    return _remove_implied(graph) or changed


def _move_to_definitions(graph: Graph) -> bool:
    changed = False
    for node in list(walk_nodes(graph.block())):
        producer = node.input().node() if node.kind() == _GUARD else None
        if producer is None or producer.owning_block() is not node.owning_block():
            continue
        first = producer.next() if producer.kind() != "prim::Param" else next(producer.owning_block().nodes())
        while first.kind() == _GUARD and first is not node:
            first = first.next()
        if first is not node and _can_move_before(first, node) and optimization_allowed("guards"):
            node.move_before(first)
            changed = True
    return changed


def _can_move_before(first: Node, guard: Node) -> bool:
    """Return whether `guard` can move before `first`: no node in between may modify the tensor."""
    node = first
    while node is not guard:
        if node.blocks() or writes_to_inputs(node) or has_side_effects(node):
            return False
        node = node.next()
    return True


def _join(graph: Graph) -> bool:
    changed = False
    for node in list(walk_nodes(graph.block())):
        following = node.next() if node.in_block() and node.kind() == _GUARD else None
        while following is not None and following.kind() == _GUARD:
            after = following.next()
            same = following.input() in (node.input(), node.output())
            if same and following.get("profiled_type") == node.get("profiled_type"):
                if not optimization_allowed("guards"):
                    return changed
                update("guards", "Joining {}", following)
                following.output().replace_all_uses_with(node.output())
                following.destroy()
                changed = True
            following = after
    return changed


def _remove_implied(graph: Graph) -> bool:
    """Remove guards of results whose type follows from the operator and its inputs' guarded types."""
    changed = False
    for node in list(walk_nodes(graph.block())):
        if node.kind() != _GUARD or not _is_implied(node) or not optimization_allowed("guards"):
            continue
        update("guards", "Removing {}", node)
        node.input().set_type(node.output().type())
        node.output().replace_all_uses_with(node.input())
        node.destroy()
        changed = True
    return changed


def _is_implied(guard: Node) -> bool:
    from ts.passes.shape_analysis import type_of_result

    producer = guard.input().node()
    record: Any = getattr(producer.operator(), "record", None)
    if record is None or not record.elementwise or producer.schema() is None or writes_to_inputs(producer):
        return False
    if is_nondeterministic(producer) or len(producer.outputs()) != 1:
        return False
    return bool(type_of_result(producer) == guard.get("profiled_type"))


# -- insertion of bail-outs --------------------------------------------------------------------------------


def insert_bail_outs(graph: Graph) -> bool:
    """Replace guards by bail-outs, each with a graph of the remaining program."""
    guards = [node for node in walk_nodes(graph.block()) if node.kind() == _GUARD]
    rests = []
    # All fallback graphs are created before the first bail-out is inserted, so that none contains bail-outs.
    for guard in guards:
        rest = _FallbackGraph(graph)
        rest.copy_from(guard)
        rests.append(rest.finish())
    changed = False
    # Dict from the result of a replaced guard to the result of its bail-out. Later bail-outs that captured
    # the former capture the latter
    instead: dict[Value, Value] = {}
    for i, (guard, (rest_graph, captured)) in enumerate(zip(guards, rests, strict=True)):
        if not optimization_allowed("guards"):
            break
        update("guards", "Giving {} a way out", guard)
        bail_out = graph.create("prim::BailOut", [instead.get(value, value) for value in captured])
        bail_out.set("index", i).set("Subgraph", rest_graph, "g")
        bail_out.copy_metadata(guard)
        bail_out.insert_before(guard)
        bail_out.output().set_type(guard.output().type())
        guard.output().replace_all_uses_with(bail_out.output())
        instead[guard.output()] = bail_out.output()
        guard.destroy()
        changed = True
    return changed


class _FallbackGraph:
    """Builder of the graph that runs if a guard fails: a copy of the program behind the guard."""

    def __init__(self, graph: Graph) -> None:
        self.full_graph = graph
        self.graph = Graph()
        self.values: dict[Value, Value] = {}
        self.captured: list[Value] = []

    def lookup(self, value: Value) -> Value:
        """Return the value in the new graph that stands for `value` of the program.

        If `value` was computed before the guard, it becomes an input of the new graph, unless it is a
        constant.
        """
        mapped = self.values.get(value)
        if mapped is None:
            producer = value.node()
            if producer.kind() == "prim::Constant":
                copy = self.graph.create_clone(producer, {})
                mapped = self.graph.prepend_node(copy).output()
            else:
                mapped = self.graph.add_input(type=value.type())
                self.captured.append(value)
            self.values[value] = mapped
        return mapped

    def copy_from(self, guard: Node) -> None:
        value = guard.input()
        self.captured.append(value)
        self.values[value] = self.values[guard.output()] = self.graph.add_input(type=value.type())
        self._copy_following(guard)

    def _copy_following(self, node: Node) -> None:
        """Copy the nodes after `node` in its block.

        Then, recursively, copy the nodes after the node that contains this block.
        """
        block = node.owning_block()
        following = node.next()
        while following is not block.return_node():
            self._copy(following)
            following = following.next()
        owner = block.owning_node()
        if owner is None:
            for value in block.outputs():
                self.graph.register_output(self.lookup(value))
            return
        if owner.kind() == "prim::Loop":
            self._finish_loop(owner, block)
        else:
            for output, value in zip(owner.outputs(), block.outputs(), strict=True):
                self.values[output] = self.lookup(value)
        self._copy_following(owner)

    def _copy(self, node: Node) -> None:
        if node.kind() == _GUARD:
            self.values[node.output()] = self.lookup(node.input())
            return
        copy = self.graph.append_node(self.graph.create_clone(node, self.lookup))
        for block in copy.blocks():
            for inner in list(walk_nodes(block)):
                _skip(inner)
        self.values.update(zip(node.outputs(), copy.outputs(), strict=True))

    def _finish_loop(self, loop: Node, body: Block) -> None:
        """Append a copy of `loop` for the iterations after the iteration whose guard failed."""
        graph = self.graph
        trips, index = self.lookup(loop.input(0)), self.lookup(body.inputs()[0])
        with graph.inserting_at_end(graph.block()):
            done = graph.insert("aten::add", [index, graph.insert_constant(1)])
            remaining_trips = graph.insert("aten::sub", [trips, done])
            condition, *carried = map(self.lookup, body.outputs())
            rest = graph.insert_node(graph.create_loop(remaining_trips, condition, carried))
            copied_body = rest.blocks()[0]
            with graph.inserting_at_end(copied_body):
                iteration = graph.insert("aten::add", [copied_body.inputs()[0], done])
            before = dict(self.values)
            for stale in (*body.inputs(), *(v for n in walk_nodes(body) for v in n.outputs())):
                self.values.pop(stale, None)
            self.values.update(zip(body.inputs(), [iteration, *copied_body.inputs()[1:]], strict=True))
            local = dict(self.values)

            def lookup_in_body(value: Value) -> Value:
                return local.get(value) or self.lookup(value)

            for node in body.nodes():
                copy = copied_body.append_node(graph.create_clone(node, lookup_in_body))
                local.update(zip(node.outputs(), copy.outputs(), strict=True))
            for value in body.outputs():
                copied_body.register_output(lookup_in_body(value))
            for node in list(walk_nodes(copied_body)):
                _skip(node)
            self.values.update(before)
        for value, output in zip(loop.outputs(), rest.outputs(), strict=True):
            self.values[value] = output.set_type(value.type())

    def finish(self) -> tuple[Graph, list[Value]]:
        """Return the graph and the program values of its inputs. The first input is the guarded tensor."""
        eliminate_dead_code(self.graph)
        # Types of captured values are kept, because earlier guards have checked them.
        proven = [value.type() for value in self.graph.inputs()]
        erase_shape_information(self.graph)  # types of other values may depend on the failed guard
        for value, type in zip(self.graph.inputs(), proven, strict=True):
            value.set_type(type)
        return self.graph, self.captured


def _skip(guard: Node) -> None:
    """Replace `guard` by its input, because fallback code has no guards."""
    if guard.kind() == _GUARD:
        guard.output().replace_all_uses_with(guard.input())
        guard.destroy()
