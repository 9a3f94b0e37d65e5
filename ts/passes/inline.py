"""Inlining: calls of scripted functions and methods to their bodies.

    %f : Function = prim::Constant[name="g"]()
    %y : int = prim::CallFunction(%f, %x)            =>    %y : int = aten::mul(%x, %two)     (the body of g)

What is copied is the body after `_prepare`, in which the callee's own calls are inlined already. Each
copied node remembers the call that it came from: `node.callstack` holds (function name, place of the call)
pairs, outermost first. A recursive function stays a call, so that a level of recursion is a frame, and so
does a body that would let the graph grow past `_LARGEST_GRAPH` nodes.
"""

from __future__ import annotations

from typing import Any, Final

from ts.ir.graph import Block, CallStack, Graph, Node, Value
from ts.ir.types import ClassType
from ts.passes.constant_pooling import constant_pooling
from ts.passes.constant_propagation import fold_immutable_constants
from ts.passes.control_flow import nodes_of
from ts.passes.dce import eliminate_unfailing_dead_code
from ts.passes.failing_code import faithful
from ts.passes.inline_fork_wait import inline_fork_wait as inline_fork_wait
from ts.passes.log import optimization_allowed, update
from ts.passes.peephole import simplify

_CALLS: Final = ("prim::CallFunction", "prim::CallMethod")
_LARGEST_GRAPH: Final = 20_000

_everything = False


def inline(graph: Graph) -> bool:
    """Replace calls of functions by their bodies."""
    inliner = _Inliner()
    return inliner.visit(graph.block())


def set_inline_everything_mode(enabled: bool) -> None:
    """Whether functions that are compiled or traced from now on have the bodies of others for calls."""
    global _everything
    _everything = enabled


def get_inline_everything_mode() -> bool:
    """Whether they have."""
    return _everything


def inline_if_everything(graph: Graph) -> bool:
    """Inline where `set_inline_everything_mode` asks for it."""
    return _everything and inline(graph)


class _Inliner:
    def __init__(self) -> None:
        self._bodies: dict[int, Graph | None] = {}  # by id of the function; None while it is prepared
        self._room = _LARGEST_GRAPH

    def visit(self, block: Block) -> bool:
        changed = False
        for node in block.nodes():
            if node.kind() in _CALLS:
                changed |= self._inline_call(node)
            else:
                for inner in node.blocks():
                    changed |= self.visit(inner)
        return changed

    def _inline_call(self, call: Node) -> bool:
        callee = called_function(call)
        if getattr(callee, "holds_breakpoint", False):
            return False
        body = None if callee is None else self._body(callee)
        if callee is None or body is None:
            return False
        size = sum(1 for _ in nodes_of(body.block()))
        if size > self._room or not optimization_allowed("inline"):
            return False
        self._room -= size
        update("inline", "Inlining {}", callee.name)
        results = _copy_body(body, call, (*call.callstack, (callee.name, call.range)))
        for output, result in zip(call.outputs(), results, strict=True):
            name = output.debug_name() if output.has_debug_name() else ""
            output.replace_all_uses_with(result)
            if name:
                result.set_debug_name(name)
        call.destroy()
        return True

    def _body(self, callee: Any) -> Graph | None:
        """The graph to copy for calls of `callee`; None inside of itself."""
        key = id(callee)
        if key not in self._bodies:
            self._bodies[key] = None
            body: Graph = faithful(callee.graph).copy()
            self.visit(body.block())
            if not _calls(body, callee):
                _prepare(body)
                self._bodies[key] = body
        return self._bodies[key]


def _prepare(body: Graph) -> None:
    """Make a body small before it is copied, perhaps many times."""
    simplify(body)
    if fold_immutable_constants(body):
        eliminate_unfailing_dead_code(body)
    constant_pooling(body)


def _calls(body: Graph, function: Any) -> bool:
    """Whether a call of `function` is left in its own body: it is recursive."""
    return any(called_function(call) is function for kind in _CALLS for call in body.find_all_nodes(kind))


def called_function(call: Node) -> Any | None:
    """The function or method that a call runs, if it is known and has a graph."""
    type = call.inputs()[0].type()
    if call.kind() == "prim::CallMethod":
        function = type.find_method(call.get("name")) if isinstance(type, ClassType) else None
    else:
        function = getattr(type, "function", None)
    return function if getattr(function, "graph", None) is not None else None


def _copy_body(body: Graph, call: Node, stack: CallStack) -> list[Value]:
    """Copy the nodes of `body` before `call`; the results are what the body's outputs became."""
    graph = call.owning_graph()
    before = call.prev()
    with graph.inserting_before(call):
        arguments = call.inputs() if call.kind() == "prim::CallMethod" else call.inputs()[1:]
        results = graph.insert_graph(body, arguments)
    copy = before.next()
    while copy is not call:
        _push_callstack(copy, stack)
        copy = copy.next()
    return results


def _push_callstack(node: Node, stack: CallStack) -> None:
    node.callstack = (*stack, *node.callstack)
    for block in node.blocks():
        for inner in block.nodes():
            _push_callstack(inner, stack)
