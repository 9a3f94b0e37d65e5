"""What follows from elements where there are none: sizes and numbers that nobody knows yet.

A shape rule asks for them, that of an operator of `ts` as well as the fake of a program's own:

@nonzero.register_fake
def _(x):
    count = ts.library.get_ctx().new_dynamic_size()
    return x.new_empty(count, x.dim(), dtype=ts.int64)

Where a program is exported they are symbols; on the meta device alone there are none, and it is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from ts.errors import DataDependentOutputException

_current: ContextVar[FakeImplCtx | None] = ContextVar("fake_context", default=None)


class FakeImplCtx:
    """Of one call: `new_size(least, most)` and `new_number(kind)` make symbols; None where there are none.

    `kind` is NumPy's letter of a dtype: the number is a whole one, a float for "f", or a truth for "b".
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
        """A size that follows from elements, between two numbers, of which the greater may be a symbol.

        ValueError for a least number below 0; DataDependentOutputException where sizes are no symbols.
        """
        if min < 0:
            raise ValueError(
                f"ctx.new_dynamic_size(min={min}, ...): expected min to be greater than or equal to 0: this "
                "API can only create non-negative sizes."
            )
        if self.new_size is None:
            raise DataDependentOutputException(
                f"{self.operator} gives a tensor whose size follows from elements"
            )
        return self.new_size(min, max)

    create_unbacked_symint = new_dynamic_size


class FakeContext:
    """A context manager: within it, `get_ctx()` gives this context."""

    def __init__(self, context: FakeImplCtx) -> None:
        self.context = context

    def __enter__(self) -> None:
        self._token = _current.set(self.context)

    def __exit__(self, *error: object) -> None:
        _current.reset(self._token)


def get_ctx() -> FakeImplCtx:
    """The context of the call whose fake runs; without symbols where a program runs on the meta device."""
    found = _current.get()
    return FakeImplCtx("an operator", None) if found is None else found
