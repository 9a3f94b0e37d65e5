"""Asynchronous results (`ts.futures`), and functions that combine them.

Each line shows an expression and its value:

    f = ts.jit.fork(work, x)                 a Future
    f.wait()                                 the result of f
    collect_all([f, g]).wait()               [f, g], after both have finished
    wait_all([f, g])                         the results of f and g
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.vm.future import Future as Future

__all__ = ["Future", "collect_all", "wait_all"]


def collect_all(futures: Sequence[Future[Any]]) -> Future[list[Future[Any]]]:
    """Return a future that finishes when all `futures` have finished. Its value is the list `futures`.

    If some of `futures` failed, the returned future raises the exception of the first failed one in the list.
    """
    for future in futures:
        if not isinstance(future, Future):
            type_name = type(future).__name__
            raise TypeError(f"collect_all(): incompatible function arguments: {type_name} is not a Future")
    futures = list(futures)
    result: Future[list[Future[Any]]] = Future()
    missing = len(futures)

    def finish() -> None:
        errors = [error for future in futures if (error := future.exception()) is not None]
        if errors:
            result.set_exception(errors[0])
        else:
            result.set_result(futures)

    def count(future: Future[Any]) -> None:
        nonlocal missing
        missing -= 1
        if not missing:
            finish()

    for future in futures:
        future.add_done_callback(count)
    if not futures:
        finish()
    return result


def wait_all(futures: Sequence[Future[Any]]) -> list[Any]:
    """Return the results of all futures. Raise the first exception, if any."""
    return [future.wait() for future in collect_all(futures).wait()]
