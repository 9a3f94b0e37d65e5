"""Data-dependent sizes (unbacked SymInts) and data-dependent numbers of fake tensors.

During an export, these sizes and numbers are symbols. On the meta device without an export, their creation
raises DataDependentOutputException. Shape rules of operators create them, and also fake implementations of
custom operators:

    @nonzero.register_fake
    def _(x):
        count = ts.library.get_ctx().new_dynamic_size()
        return x.new_empty(count, x.dim(), dtype=ts.int64)
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from ts.errors import DataDependentOutputException

_current: ContextVar[FakeImplCtx | None] = ContextVar("fake_context", default=None)


class FakeImplCtx:
    """Context of one call of a fake implementation. It creates the symbols of the call.

    `new_size(least, most)` creates a symbolic size, and `new_number(kind)` a symbolic number. Both are None
    if symbols are unavailable. `kind` is the kind character of a NumPy dtype: "f" for a float, "b" for a
    bool, others for an int.
    """

    def __init__(
        self,
        operator: str,
        new_size: Callable[[int, Any], Any] | None,
        new_number: Callable[[str], Any] | None = None,
    ) -> None:
        self.operator = operator
        self.new_size = new_size
        self.new_number = new_number

    def new_dynamic_size(self, *, min: int = 0, max: Any = None) -> Any:
        """Return a symbolic data-dependent size in [min, max]. `max` may be a symbol.

        Raise ValueError for a negative `min`, and DataDependentOutputException if symbols are unavailable.
        """
        if min < 0:
            raise ValueError(
                f"ctx.new_dynamic_size(min={min}, ...): expected min to be greater than or equal to 0: this "
                "API can only create non-negative sizes."
            )
        if self.new_size is None:
            raise DataDependentOutputException(f"{self.operator} returns a tensor with a data-dependent size")
        return self.new_size(min, max)

    create_unbacked_symint = new_dynamic_size


class FakeContext:
    """Context manager that makes `context` the result of `get_ctx()`."""

    def __init__(self, context: FakeImplCtx) -> None:
        self.context = context

    def __enter__(self) -> None:
        self._token = _current.set(self.context)

    def __exit__(self, *error: object) -> None:
        _current.reset(self._token)


def get_ctx() -> FakeImplCtx:
    """Return the context of the running fake implementation, or a context that cannot create symbols."""
    context = _current.get()
    return FakeImplCtx("an operator", None) if context is None else context
