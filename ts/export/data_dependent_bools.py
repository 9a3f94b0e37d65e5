"""Replacements for operators whose boolean result depends on tensor elements, such as `equal`.

Instead of such an operator, an export calls the function for it in `BOOL_OPERATORS`, and records the
operators that the function calls.
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
