"""Per-thread state: code inside of a function transform (`vmap`, `grad` ...), where some methods raise.

Example:

    with transforming():        # the transformed function runs inside of the block
        x.backward()            # RuntimeError
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Here(threading.local):
    def __init__(self) -> None:
        self.transforms = 0


_here = _Here()


@contextmanager
def transforming() -> Iterator[None]:
    """Mark the thread as inside of a transformed function in the block, so `outside_only` raises an error."""
    _here.transforms += 1
    try:
        yield
    finally:
        _here.transforms -= 1


def is_transforming() -> bool:
    """Return whether this thread runs inside of a function transform (`vmap`, `grad`)."""
    return _here.transforms > 0


def outside_only(message: str) -> None:
    """Raise RuntimeError(message) if called inside of a function transform."""
    if _here.transforms:
        raise RuntimeError(message)


def raise_inside_transforms(called: str, what: str) -> None:
    """Raise PyTorch's RuntimeError for a call of the method `called` inside of a function transform.

    `what` is "" or a hint in parentheses, which the message contains after the method name.
    """
    outside_only(
        f"You are attempting to call Tensor.{called}() {what}inside of a function being transformed by a "
        "functorch transform. This is unsupported, please attempt to use the functorch transforms (e.g. "
        f"grad, vjp, jacrev, jacfwd, hessian) or call {called}() outside of a function being transformed "
        "instead."
    )
