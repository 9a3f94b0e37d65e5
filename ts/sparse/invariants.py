"""Global setting for checks of the invariants of sparse tensors.

Indices are always checked. Within the block, `is_coalesced=True` is also checked:

    with check_sparse_tensor_invariants():
        ts.sparse_coo_tensor(indices, values, (2, 3), is_coalesced=True)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any


class check_sparse_tensor_invariants:
    """Context manager and decorator for the check of `is_coalesced=`. Indices are always checked."""

    _enabled = False

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.saved: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Return True if `is_coalesced=True` arguments are checked by default."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable() -> None:
        """Enable the check of `is_coalesced=True` arguments for all later calls."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable() -> None:
        """Disable the check of `is_coalesced=True` arguments for all later calls."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self) -> None:
        if self.saved is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager "
                "instance for context nesting."
            )
        self.saved = self.is_enabled()
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        check_sparse_tensor_invariants._enabled = bool(self.saved)
        self.saved = None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls `function` within this context manager's setting."""

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return function(*args, **kwargs)

        return checked
