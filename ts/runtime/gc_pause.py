"""Pausing (disabling) of Python's cyclic garbage collector (GC) during compilations and imports.

The collector does not run within the block:

    with gc_disabled():
        compile(...)

Most new objects of a compilation or import stay alive. The collector would scan them repeatedly, for a third
of the time. After the block, new objects move to the oldest generation without a scan. Temporary graphs are
not among them, because they are freed by reference counts (`Graph.free`). A full collection frees the graphs
of unused programs. It runs when the number of objects that moved exceeds the number of all objects.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_MIN_OBJECTS_FOR_COLLECTION: Final = 2_000_000  # promoted objects before a full collection, about 250 MB
# After `_promote_objects` has found objects frozen by the program (`gc.freeze`), this many calls of it do
# nothing, because counting frozen objects is slow.
_SKIPPED_CHECKS: Final = 100
_checks_to_skip = 0
_promoted_objects = 0  # number of objects that were promoted since the last full collection
_threshold = _MIN_OBJECTS_FOR_COLLECTION


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Context without garbage collection. If the collector was disabled before, it remains disabled."""
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
    """Move all objects to the oldest generation.

    If many objects were moved since the last full collection, run a full collection instead.
    """
    global _promoted_objects, _threshold, _checks_to_skip
    if _checks_to_skip:
        _checks_to_skip -= 1
        return
    # Do nothing if the program has frozen objects, because `gc.unfreeze` below would unfreeze them, too.
    if gc.get_freeze_count():
        _checks_to_skip = _SKIPPED_CHECKS
        return
    _promoted_objects += gc.get_count()[0]
    if _promoted_objects > _threshold:
        from ts._core.thread import deadline  # imported while collection is off, as this imports NumPy

        if not deadline.is_set():  # a collection would use the time of a call with a limit
            gc.collect()
            _promoted_objects = 0
            _threshold = max(_MIN_OBJECTS_FOR_COLLECTION, _count_objects())
            return
    gc.freeze()
    gc.unfreeze()


def _count_objects() -> int:
    """Return the number of objects that the collector tracks.

    The list of these objects is released at once.
    """
    return next(map(len, iter(gc.get_objects, None)))
