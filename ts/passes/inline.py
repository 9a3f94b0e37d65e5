"""Function inlining (inline expansion) with an inlining budget: replace calls by the bodies of the callees.

The pass replaces the call of a function `g` on the left by the node on the right:

    %f : Function = prim::Constant[name="g"]()
    %y : int = prim::CallFunction(%f, %x)            =>    %y : int = aten::mul(%x, %two)

Calls in a copied body are inlined, too, except recursive calls. A body is not inlined if the graph would
exceed `_MAX_GRAPH_NODES` nodes. `node.callstack` of a copied node lists the inlined calls, outermost first,
as pairs of function name and source location.

In a graph that will be executed, a body with branches is first specialized to constant arguments. A function
is not compiled if only removed branches call it.
"""

from __future__ import annotations

from typing import Any, Final

from ts.analysis.autocast_regions import autocast_blocks
from ts.ir.graph import Block, CallStack, Graph, Node, Value
from ts.ir.types import ClassType, Type
from ts.passes.constant_pooling import constant_pooling
from ts.passes.constant_propagation import constant_propagation_immutable_types, fold_immutable_constants
from ts.passes.dce import eliminate_unfailing_dead_code
from ts.passes.inline_fork_wait import inline_fork_wait as inline_fork_wait
from ts.passes.pass_logging import optimization_allowed, update
from ts.passes.pass_utils import walk_nodes
from ts.passes.peephole import peephole, simplify
from ts.passes.preserve_raising_code import graph_to_execute

_CALLS: Final = ("prim::CallFunction", "prim::CallMethod")
_MAX_GRAPH_NODES: Final = 20_000
# Types of constant arguments that often decide branches
_BRANCH_DECIDING_TYPES: Final = (bool, str, type(None))

_everything = False


def inline(graph: Graph) -> bool:
    """Inline all calls of scripted functions and methods."""
    return _inline(graph, _Inliner(specialize=False))


def inline_as_printed(graph: Graph) -> bool:
    """Inline all calls. As in PyTorch's graph text, simplify the graph of each callee first."""
    return _inline(graph, _Inliner(specialize=False, simplify=True))


def inline_for_execution(graph: Graph) -> bool:
    """Inline function calls, specializing each body to its constant arguments."""
    return _inline(graph, _Inliner(specialize=True))


def _inline(graph: Graph, inliner: _Inliner) -> bool:
    if graph.kinds().isdisjoint(_CALLS):
        return False
    changed = inliner.visit(graph.block())
    inliner.free_copies()
    return changed


def set_inline_everything_mode(enabled: bool) -> None:
    """Set whether calls are inlined in functions that are compiled or traced later."""
    global _everything
    _everything = enabled


def get_inline_everything_mode() -> bool:
    """Return whether calls are inlined in functions that are compiled or traced."""
    return _everything


def inline_if_everything(graph: Graph) -> bool:
    """Inline all calls, including those in forked tasks, if `set_inline_everything_mode` is enabled."""
    if not _everything:
        return False
    started = [inline_if_everything(fork.get("Subgraph")) for fork in graph.find_all_nodes("prim::fork")]
    return inline(graph) or any(started)


_Constants = tuple[tuple[int, object, Type], ...]  # (argument index, constant, type)


class _Inliner:
    def __init__(self, specialize: bool, simplify: bool = False) -> None:
        self._specialize, self._simplify = specialize, simplify
        self._simplifying: list[Any] = []  # functions whose graphs are being simplified
        # (function, constants) -> body, or None for a recursive function
        self._bodies: dict[tuple[Any, _Constants], Graph | None] = {}
        self._graphs: dict[Any, tuple[Graph, bool]] = {}  # function -> (graph, True if the graph has ifs)
        self._node_budget = _MAX_GRAPH_NODES
        self._copies: list[Graph] = []  # the graphs in `_bodies` and `_graphs` that belong to no function

    def free_copies(self) -> None:
        """Free the copies of the callees' graphs."""
        for graph in self._copies:
            graph.free()

    def visit(self, block: Block, enclosing_callees: tuple[Any, ...] = ()) -> bool:
        """Inline the calls in `block`, except calls of `enclosing_callees`, which would be recursive.

        `enclosing_callees` are the functions whose inlined bodies contain `block`, outermost first.
        """
        changed = False
        for node in block.nodes():
            changed |= self._visit_node(node, enclosing_callees)
        return changed

    def _visit_node(self, node: Node, enclosing_callees: tuple[Any, ...]) -> bool:
        if node.kind() in _CALLS:
            return self._inline_call(node, enclosing_callees)
        changed = False
        for inner in node.blocks():
            changed |= self.visit(inner, enclosing_callees)
        return changed

    def _inline_call(self, call: Node, enclosing_callees: tuple[Any, ...]) -> bool:
        callee = called_function(call)
        if callee is None or callee in enclosing_callees or callee in self._simplifying:
            return False
        if getattr(callee, "holds_breakpoint", False):
            return False
        # a callee with autocast blocks would disable optimizations of the whole graph
        if self._specialize and autocast_blocks(self._graph(callee)[0]):
            return False
        body = self._body(callee, call)
        if body is None:
            return False
        size = sum(1 for _ in walk_nodes(body.block()))
        if size > self._node_budget or not optimization_allowed("inline"):
            return False
        self._node_budget -= size
        update("inline", "Inlining {}", callee.name)
        copied, results = _copy_body(body, call, (*call.callstack, (callee.name, call.range)))
        for output, result in zip(call.outputs(), results, strict=True):
            name = output.debug_name() if output.has_debug_name() else ""
            output.replace_all_uses_with(result)
            if name:
                result.set_debug_name(name)
        call.destroy()
        for node in copied:
            self._visit_node(node, (*enclosing_callees, callee))
        return True

    def _body(self, callee: Any, call: Node) -> Graph | None:
        """Return the graph to inline for `call`, a call of `callee`, or None if `callee` calls itself."""
        constants = self._constants(callee, call)
        key = callee, constants
        if key not in self._bodies:
            body, branches = self._graph(callee)
            if branches and not self._simplify:
                body = _specialized_copy(body, constants)
                self._copies.append(body)
            self._bodies[key] = None if _calls(body, callee) else body
        return self._bodies[key]

    def _graph(self, callee: Any) -> tuple[Graph, bool]:
        if callee not in self._graphs:
            graph = callee.as_compiled()
            if self._simplify:
                graph = self._simplify_callee(graph.copy(), callee)
                self._copies.append(graph)
            else:
                graph = graph_to_execute(graph)
            self._graphs[callee] = graph, graph.find_node("prim::If") is not None
        return self._graphs[callee]

    def _simplify_callee(self, graph: Graph, callee: Any) -> Graph:
        self._simplifying.append(callee)
        self.visit(graph.block())
        self._simplifying.pop()
        peephole(graph, disable_shape_peepholes=True)
        constant_propagation_immutable_types(graph)
        constant_pooling(graph)
        return graph

    def _constants(self, callee: Any, call: Node) -> _Constants:
        """Return the constant arguments of `call` to which the body of `callee` is specialized."""
        if not self._specialize or not self._graph(callee)[1]:
            return ()
        return tuple(
            (i, argument.to_ivalue(), argument.type())
            for i, argument in enumerate(_arguments(call))
            if argument.node().kind() == "prim::Constant"
            and isinstance(argument.to_ivalue(), _BRANCH_DECIDING_TYPES)
        )


def _specialized_copy(graph: Graph, constants: _Constants) -> Graph:
    """Return a copy of `graph` that is specialized to constant arguments and simplified, for inlining."""
    body = graph.copy()
    with body.inserting_at_start():
        for i, value, type in constants:
            body.inputs()[i].replace_all_uses_with(body.insert_constant(value, type=type))
    simplify(body)
    if fold_immutable_constants(body):
        eliminate_unfailing_dead_code(body)
    constant_pooling(body)
    return body


def _calls(body: Graph, function: Any) -> bool:
    """Return whether `body` contains a call of `function`."""
    return any(_resolve_callee(call) is function for kind in _CALLS for call in body.find_all_nodes(kind))


def called_function(call: Node) -> Any | None:
    """Return the compiled callee of `call`, or None for an unknown callee or one without graph."""
    function = _resolve_callee(call)
    return function if getattr(function, "graph", None) is not None else None


def _resolve_callee(call: Node) -> Any | None:
    """Return the callee of a call node, compiled or not, or None for an unknown callee."""
    type = call.inputs()[0].type()
    if call.kind() == "prim::CallMethod":
        return type.find_method(call.get("name")) if isinstance(type, ClassType) else None
    return getattr(type, "function", None)


def _arguments(call: Node) -> list[Value]:
    return call.inputs() if call.kind() == "prim::CallMethod" else call.inputs()[1:]


def _copy_body(body: Graph, call: Node, stack: CallStack) -> tuple[list[Node], list[Value]]:
    """Copy the nodes of `body` before `call`, and return the copies and the values of the body's outputs."""
    graph = call.owning_graph()
    before = call.prev()
    with graph.inserting_before(call):
        results = graph.insert_graph(body, _arguments(call))
    copied = []
    copy = before.next()
    while copy is not call:
        _push_callstack(copy, stack)
        copied.append(copy)
        copy = copy.next()
    return copied, results


def _push_callstack(node: Node, stack: CallStack) -> None:
    node.callstack = (*stack, *node.callstack) if node.callstack else stack
    for block in node.blocks():
        for inner in block.nodes():
            _push_callstack(inner, stack)
