"""No garbage collection while compiling.

    with no_collection():
        compile(...)

A compilation makes tens of thousands of objects that stay: syntax, graph, code. Python's collector would
look at them again and again and find nothing, for a tenth of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Hold Python's cyclic collector off inside; what is off already stays off."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
