"""Functions whose results come later: `torch.distributed.rpc.functions`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ts.distributed.rpc.callees import ASYNCHRONOUS

F = TypeVar("F", bound=Callable[..., Any])


def async_execution(fn: F) -> F:
    """Mark a function that returns a `Future`: who calls it from another process gets what the future holds,
    and no thread waits for it meanwhile."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    setattr(wrapper, ASYNCHRONOUS, fn)
    return wrapper  # type: ignore[return-value]
