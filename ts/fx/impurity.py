"""Detection of impure calls (side effects), which dead code elimination keeps.

Input: the target of a `call_function` node. Output: True if a call has a side effect. Example:

    is_impure(ts.rand)                                 True, because it advances the random generator
    is_impure(ts.ops.aten.add_.Tensor)                 True, because it writes its argument
    is_impure(ts.relu)                                 False
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final, TypeVar

import ts
from ts._core.dispatch.overloads import OverloadSet
from ts.ops.namespace import OpOverload, Packet

F = TypeVar("F", bound=Callable[..., Any])

_marked: Final[set[Any]] = {operator.setitem, ts._assert}
_DRAWING: Final = ("random", "sampling")  # operator families in `ts.ops` that draw random numbers


def has_side_effect(fn: F) -> F:
    """Mark a function as having side effects: its calls are never removed as dead code."""
    _marked.add(fn)
    return fn


def is_impure(target: Any, impure_random: bool = True) -> bool:
    """Return True if a call has side effects.

    With `impure_random`, drawing random numbers counts as a side effect.
    """
    if target in _marked:
        return True
    if isinstance(target, OpOverload):
        record, schema = target.operator.record, target.operator.schema
        drawn = impure_random and record is not None and record.nondeterministic
        acts = schema.is_mutable or not schema.returns or (record is not None and record.side_effect)
        return bool(acts or drawn)
    if isinstance(target, Packet):
        return "default" in target.overloads() and is_impure(target.default, impure_random)
    if not isinstance(target, OverloadSet):
        return False
    at_the_top: object = getattr(ts, target.__name__, None)
    if at_the_top is not target:
        return False
    records = [op.record for op in target.operators() if op.record is not None]
    return any(record.nondeterministic and record.family in _DRAWING for record in records)
