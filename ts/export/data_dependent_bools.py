"""Replacements for operators whose boolean result depends on tensor elements, such as `equal`.

`BOOL_OPERATORS` maps each such operator to a function. An export calls this function instead of the operator,
and records the operators in the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ts
from ts._core.tensor.tensor import Tensor


def _equal(x: Tensor, other: Tensor) -> Any:
    return x.shape == other.shape and (x == other).all().item()  # type: ignore[attr-defined]


BOOL_OPERATORS: dict[str, Callable[..., Any]] = {
    "aten::equal": _equal,
    "aten::allclose": lambda *values: ts.isclose(*values).all().item(),
    "aten::is_nonzero": lambda x: x.item() != 0,
}
