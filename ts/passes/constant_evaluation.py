"""Compile-time evaluation of single graph nodes on Python values.

Input: a node and its argument values. Output: the list of results, or NOT_EVALUATED. A node is not evaluated
if it has blocks or no operator. A node whose operator fails is not evaluated, because the program must raise
the error at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ts._core.dispatch.op_log import PauseLogging
from ts._core.value.ivalue import object_get
from ts._core.value.objects import Object
from ts.ir.attributes import type_of_constant


class _NotEvaluated:
    def __repr__(self) -> str:
        return "NOT_EVALUATED"


NOT_EVALUATED: Final = _NotEvaluated()

# Dict from the kind of a node without an operator to the function that computes the node's results. The
# functions give the same results as the interpreter.
_STRUCTURAL: Final[dict[str, Callable[..., Any]]] = {
    "prim::TupleConstruct": lambda *items: (items,),
    "prim::ListConstruct": lambda *items: (list(items),),
    "prim::TupleUnpack": lambda items: items,
    "prim::ListUnpack": lambda items: items,
    "prim::TupleIndex": lambda items, i: (items[i],),
}


def evaluate(node: Any, arguments: Sequence[Any]) -> Any:
    """Return the results of `node` for `arguments` as a list, or NOT_EVALUATED."""
    if node.kind() in ("prim::unchecked_cast", "prim::isinstance"):
        return _evaluate_type_question(node, arguments[0])
    if node.kind() == "prim::GetAttr":
        return _evaluate_attribute(node.get("name"), arguments[0])
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
        with PauseLogging():
            result = operator(*map(_to_number, arguments))
    except Exception:  # The node remains unevaluated, so that the program raises the error at run time.
        return NOT_EVALUATED
    return list(result) if len(node.outputs()) > 1 else [result]


def _evaluate_attribute(name: str, owner: Any) -> Any:
    """Return `[value]` of the attribute `name` if `owner` is a script object, else NOT_EVALUATED."""
    if not isinstance(owner, Object):
        return NOT_EVALUATED
    try:
        return [object_get(owner, owner.cls.slot(name))]
    except AttributeError:  # the attribute was never assigned
        return NOT_EVALUATED


def _to_number(value: Any) -> Any:
    """Return the number if `value` is a 0-dim tensor that a trace created for a number, else `value`."""
    return value.item() if getattr(value, "is_wrapped_number", False) else value


def _evaluate_type_question(node: Any, value: Any) -> Any:
    """Return `[result]` of a cast or type test of `value`, or NOT_EVALUATED if the result is uncertain.

    A cast to a type that `value` does not have is no compile-time error, because it may never run.
    """
    type = type_of_constant(value)
    if type is None:
        return NOT_EVALUATED
    if node.kind() == "prim::unchecked_cast":
        return [value] if type.is_subtype_of(node.output().type()) else NOT_EVALUATED
    if isinstance(value, list | dict | tuple):  # the element type of an empty container is unknown
        return NOT_EVALUATED
    return [any(type.is_subtype_of(tested) for tested in node.get("types"))]
