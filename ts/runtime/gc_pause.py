"""Pausing of Python's garbage collector during compilations and imports.

    with gc_disabled():
        compile(...)

A compilation or import creates tens of thousands of objects, most of which stay alive: syntax, graph, code.
Python's collector would scan them repeatedly, for a third of the time, and find little garbage. It is
disabled inside, and new objects are then promoted to the oldest generation without a scan, at no cost. Graphs
that were copied and dropped are cyclic garbage; a full collection runs when a quarter of all objects was
promoted this way, the rule of Python's own collector.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_MIN_OBJECTS_FOR_COLLECTION: Final = 200_000  # promoted objects before a full collection; about 25 MB
# promotions without a check after frozen objects were found, as counting these is slow
_SKIPPED_CHECKS: Final = 100
_checks_to_skip = 0
_promoted_objects = 0  # number of objects that were promoted since the last full collection
_threshold = _MIN_OBJECTS_FOR_COLLECTION


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Within this context, the garbage collector is off; if it was off before, it stays off afterwards."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        _promote_objects()
        gc.enable()


def _promote_objects() -> None:
    """Move all objects to the oldest generation; run a full collection if many objects were moved."""
    global _promoted_objects, _threshold, _checks_to_skip
    if _checks_to_skip:
        _checks_to_skip -= 1
        return
    if gc.get_freeze_count():  # the program has frozen objects, and unfreezing would lose this
        _checks_to_skip = _SKIPPED_CHECKS
        return
    _promoted_objects += gc.get_count()[0]
    if _promoted_objects > _threshold:
        from ts._core.thread import deadline  # imported while collection is off, as this imports NumPy

        if not deadline.is_set():  # a limited call must not spend its time on a collection
            gc.collect()
            _promoted_objects = 0
            _threshold = max(_MIN_OBJECTS_FOR_COLLECTION, _count_objects() // 4)
            return
    gc.freeze()
    gc.unfreeze()


def _count_objects() -> int:
    """Return the number of tracked objects, without making the list of them visible to other threads."""
    return next(map(len, iter(gc.get_objects, None)))
