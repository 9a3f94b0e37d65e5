"""Programs that are nested deeply: a stack for the compiler's recursion.

In: a piece of work that recurses over syntax or graphs. Out: its result; or a `NestingError`, never a bare
`RecursionError`.

    with_deep_stack(lambda: compile(text))

The work is tried where it is. If Python's recursion limit ends it, it is done once more on a thread with a
stack of its own, large enough for a limit far above Python's: a thousand `elif` branches compile.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from ts.errors import NestingError

_T = TypeVar("_T")
_STACK_BYTES: Final = 512 << 20  # address space: what is not used is never allocated
_RECURSION_LIMIT: Final = 60_000
_NAME: Final = "ts-deep-stack"


def with_deep_stack(work: Callable[[], _T]) -> _T:
    """Do `work`, which may be begun twice and so must leave nothing behind when it fails."""
    try:
        return work()
    except (RecursionError, NestingError):
        if threading.current_thread().name == _NAME:
            raise
    return _on_deep_stack(work)


def _on_deep_stack(work: Callable[[], _T]) -> _T:
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except RecursionError:
            errors.append(NestingError("the program is nested too deeply; split it into functions"))
        except BaseException as error:
            errors.append(error)

    stack, limit = threading.stack_size(_STACK_BYTES), sys.getrecursionlimit()
    try:
        thread = threading.Thread(target=run, name=_NAME)
        sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
        thread.start()
    finally:
        threading.stack_size(stack)
    try:
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return results[0]
