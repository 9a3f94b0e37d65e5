"""Named tuples for operators with several results, with the field names of the schema.

    >>> results_class("aten::max", ("values", "indices"))((3, 0))
    torch.return_types.max(
    values=3,
    indices=0)
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from functools import cache
from typing import Any


@cache
def results_class(operator: str, names: tuple[str, ...]) -> type[tuple[Any, ...]]:
    """Return the named-tuple class for an operator's results, or `tuple` if a result has no name."""
    if not all(names):
        return tuple
    title = operator.rpartition("::")[2]
    base = namedtuple(title, names)  # type: ignore[misc]
    body = {"__slots__": (), "__new__": _from_values, "__repr__": _format_result, "__reduce__": _reduce}
    return type(title, (base,), body)


def _from_values(cls: type[tuple[Any, ...]], values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple.__new__(cls, values)


def _reduce(results: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple, (tuple(results),)


def _format_result(results: Any) -> str:
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(results._fields, results, strict=True))
    return f"torch.return_types.{type(results).__name__}(\n{fields})"
