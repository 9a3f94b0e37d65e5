"""Guards: what a trace checks of the numbers that left it for Python.

In: a tensor that becomes a value of Python while a trace is recorded, and that value.  Out: nodes that let
the traced function raise where the value is another one:

    if x.sum() > 0: ...       %1 : bool = aten::Bool(%sum)
                               = prim::If(%1)
                                block0(): -> ()
                                block1():  = prim::RaiseException("...")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ts._core.tensor.tensor import Tensor
from ts.ir.graph import Value
from ts.ir.types import BOOL
from ts.tracing import words
from ts.tracing.types import CONVERSIONS, NUMBER_TYPES

if TYPE_CHECKING:
    from ts.tracing.tracer import Tracer


def escape(tracer: Tracer, x: Tensor, kind: str, number: Any) -> None:
    """A tensor becomes a value of Python: a warning now, and a guard in the trace."""
    if kind in words.ESCAPES:
        tracer.warn(words.ESCAPES[kind])
    value = tracer.find(x)
    if value is None:  # an outer tensor, which cannot be another one next time
        return
    graph = tracer.graph
    with graph.at_range(tracer.place()):
        if kind == "length":
            guard(tracer, graph.insert("aten::size", [value, 0]), number, f"len(...) was {number}")
        elif type(number) in (bool, int, float) and number == number:
            wanted = NUMBER_TYPES[type(number)]
            got = graph.insert(CONVERSIONS[wanted], [value], wanted)
            guard(tracer, got, number, f"a value of Python was {number}")
        else:
            with tracer.paused():
                seen = x.clone()
            same = graph.insert("aten::equal", [value, tracer.insert_tensor(seen, tracer.place())], BOOL)
            guard(tracer, same, True, "a tensor given to Python was another one")


def guard(tracer: Tracer, value: Value, expected: Any, what: str) -> None:
    """Let the trace raise where `value` is another one than now."""
    graph = tracer.graph
    place = tracer.place()
    text = place.text().strip()
    with graph.at_range(place):
        condition = value
        if not isinstance(expected, bool):
            condition = graph.insert("aten::eq", [value, expected], BOOL)
        elif not expected:
            condition = graph.insert("aten::__not__", [value], BOOL)
        node = graph.insert_node(graph.create_if(condition))
        with graph.inserting_at_end(node.blocks()[1]):
            message = graph.insert_constant(words.GUARD.format(what, text, place.location()))
            graph.insert_node(graph.create("prim::RaiseException", (message, graph.insert_constant(None)), 0))
