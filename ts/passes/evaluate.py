"""Running one node of a graph at compile time, on Python values.

`evaluate(node, arguments)` gives the results as a list, or NOT_EVALUATED when the node is of a kind that
cannot be run alone, has no operator, or fails: an operator that raises has to raise when the program runs,
not before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final


class _NotEvaluated:
    def __repr__(self) -> str:
        return "NOT_EVALUATED"


NOT_EVALUATED: Final = _NotEvaluated()

# What is built into the interpreter, so that no operator stands for it.
_STRUCTURAL: Final[dict[str, Callable[..., Any]]] = {
    "prim::TupleConstruct": lambda *items: (items,),
    "prim::ListConstruct": lambda *items: (list(items),),
    "prim::TupleUnpack": lambda items: items,
    "prim::ListUnpack": lambda items: items,
    "prim::TupleIndex": lambda items, i: (items[i],),
    "prim::unchecked_cast": lambda value: (value,),
}


def evaluate(node: Any, arguments: Sequence[Any]) -> Any:
    """Run `node` on `arguments`; see the module's description."""
    run = _STRUCTURAL.get(node.kind())
    if run is not None:
        try:
            results = list(run(*arguments))
        except IndexError:
            return NOT_EVALUATED
        return results if len(results) == len(node.outputs()) else NOT_EVALUATED
    operator = node.operator()
    if operator is None or not callable(operator):
        return NOT_EVALUATED
    try:
        result = operator(*arguments)
    except Exception:  # whatever it is, the program meets it when it runs
        return NOT_EVALUATED
    return list(result) if len(node.outputs()) > 1 else [result]
