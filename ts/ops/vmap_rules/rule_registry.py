"""Registry of batching rules by operator key.

`batch(keys, rule)` registers a rule, and `rule_of(record)` returns the rule of an operator. A rule is a
function of a `Call`, and returns the results with the batch as first dimension. A rule is called only if at
least one argument is batched.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

from ts._core.dispatch_layers.batched_tensor import Call
from ts.ops.operator_record import OperatorRecord

Rule = Callable[[Call], Any]

KINDS = ("views", "reductions", "matmul", "indexing", "creation", "conv_and_pooling", "normalizations")

_rules: dict[str, Rule] = {}


def batch(keys: str, rule: Rule) -> None:
    """Register the batching rule of operators, by keys without the "aten::" prefix."""
    for key in keys.split():
        if key in _rules:
            raise ValueError(f"the batching rule of {key} is declared twice")
        _rules[key] = rule


@cache
def _load() -> None:
    for kind in KINDS:
        importlib.import_module(f"ts.ops.vmap_rules.{kind}")


def all_rules() -> dict[str, Rule]:
    """Return all batching rules by operator key."""
    _load()
    return _rules


def rule_of(record: OperatorRecord) -> Rule | None:
    """Return the batching rule of an operator, for an alias that of the original operator, or None."""
    from ts.ops import registry

    record = record.base or record
    _load()
    rule = _rules.get(record.key.removeprefix("aten::"))
    if rule is None:
        other = registry.find_alias_target(record)
        return None if other is None else rule_of(other)
    return rule
