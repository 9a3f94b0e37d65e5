"""Asynchronous RPC functions: `torch.distributed.rpc.functions`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ts.distributed.rpc.callable_registry import ASYNC_FUNCTION_ATTRIBUTE

F = TypeVar("F", bound=Callable[..., Any])


def async_execution(fn: F) -> F:
    """Mark a function that returns a `Future` as asynchronous.

    A remote caller receives the value of the future. No thread of the callee waits for it.
    """

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    setattr(wrapper, ASYNC_FUNCTION_ATTRIBUTE, fn)
    return wrapper  # type: ignore[return-value]
