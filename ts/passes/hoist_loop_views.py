"""Loop-invariant code motion for views: invariant views are created once before the loop.

The pass replaces the loop on the left by the nodes on the right:

    %y : Tensor = prim::Loop(%n, %true, %x)          %runs : bool = aten::gt(%n, %zero)
      block0(%i : int, %h : Tensor):                 %v : Tensor = prim::If(%runs)
        %t : Tensor = aten::t(%w)                      block0():
        %p : Tensor = aten::mm(%h, %t)         =>        %t : Tensor = aten::t(%w)
        -> (%true, %p)                                   -> (%t)
                                                       block1():
                                                         -> (%w)
                                                     %y : Tensor = prim::Loop(%n, %true, %x)
                                                       block0(%i : int, %h : Tensor):
                                                         %p : Tensor = aten::mm(%h, %v)
                                                         -> (%true, %p)

The loop must only read the view. Its creation may raise an error. A view is therefore hoisted only if its
node precedes all side effects of the loop body. It is created only if the loop runs at least once.
"""

from __future__ import annotations

from ts.analysis.effects import has_side_effects, reshapes
from ts.analysis.mutation import is_only_read, writes_to_inputs
from ts.fusion.fusion_rules import view_node_of
from ts.ir.graph import Graph, Node, Value
from ts.ir.types import TENSOR
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import LOOP_INPUTS, change_loops, constant_value, walk_nodes


def hoist_loop_views(graph: Graph) -> bool:
    """Hoist loop-invariant views out of loops."""
    return "prim::Loop" in graph.kinds() and change_loops(graph.block(), _hoist)


def _hoist(loop: Node) -> bool:
    views = _views(loop)
    body = walk_nodes(loop.blocks()[0])
    if not views or any(_may_reshape(node) or has_side_effects(node) for node in body):
        return False
    if not optimization_allowed("hoist_loop_views"):
        return False
    update("hoist_loop_views", "Moving {} before {}", views, loop)
    graph = loop.owning_graph()
    with graph.inserting_before(loop):
        choice = graph.insert_node(graph.create("prim::If", [_has_iteration(graph, loop)], 0))
    view_block, else_block = choice.add_block(), choice.add_block()
    for node in views:
        view = node.output()
        result = choice.add_output(type=TENSOR).copy_metadata(view)
        view.replace_all_uses_with(result)
        node.move_before(view_block.return_node())
        view_block.register_output(view)
        else_block.register_output(node.inputs()[0])
    return True


def _may_reshape(node: Node) -> bool:
    """Return whether a node may change the shape of a tensor, such as an operator with `out=`."""
    operator = None if node.blocks() else node.operator()
    record = None if operator is None else operator.record
    return reshapes(node) or (record is not None and record.variant == "out")


def _has_iteration(graph: Graph, loop: Node) -> Value:
    """Insert nodes before `loop` that compute whether `loop` has an iteration, and return the bool value."""
    trips, condition = loop.inputs()[:LOOP_INPUTS]
    runs = graph.insert("aten::gt", [trips, 0])
    return runs if constant_value(condition) is True else graph.insert("aten::__and__", [runs, condition])


def _views(loop: Node) -> list[Node]:
    """Return the loop-invariant views of a loop body that precede the first side effect in the body."""
    body = loop.blocks()[0]
    loop_values: set[Value] = set(body.inputs())
    views: list[Node] = []
    for node in body.nodes():
        if node.blocks() or has_side_effects(node) or writes_to_inputs(node):
            break
        outputs = node.outputs()
        is_view = len(outputs) == 1 and outputs[0].type() == TENSOR and view_node_of(outputs[0]) is node
        if is_view and loop_values.isdisjoint(node.inputs()) and is_only_read(outputs[0]):
            views.append(node)
        loop_values.update(outputs)
    return views
