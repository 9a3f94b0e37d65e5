"""No garbage collection while compiling, and while the modules of `ts` are imported.

    with no_collection():
        compile(...)

A compilation makes tens of thousands of objects, most of which stay: syntax, graph, code; so does an
import. Python's collector would look at them again and again and find little, for a third of the time.
So it is off inside, and what was made goes to the oldest objects unlooked at, which takes no time
however many they are. The graphs that were copied, optimised and dropped are cyclic garbage; they are
looked for when a quarter of all objects came this way, as Python does with what survives its own
collections.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_MANY: Final = 200_000  # objects, some 25 MB: fewer are not worth a look at all that there are
_UNASKED: Final = 100  # times that a program which has frozen objects is not asked again: they are counted
_unasked = 0
_aged = 0  # objects that came to the oldest ones since these were last looked at
_threshold = _MANY


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
        _age()
        gc.enable()


def _age() -> None:
    """Count all objects among the oldest; collect where many have come since the last time."""
    global _aged, _threshold, _unasked
    if _unasked:
        _unasked -= 1
        return
    if gc.get_freeze_count():  # the program has frozen objects of its own, which unfreezing would lose
        _unasked = _UNASKED
        return
    _aged += gc.get_count()[0]
    if _aged > _threshold:
        from ts._core.thread import deadline  # here: NumPy is imported with this, by then without collections

        if not deadline.is_set():  # whoever has little time does not pay for others
            gc.collect()
            _aged = 0
            _threshold = max(_MANY, _objects() // 4)
            return
    gc.freeze()
    gc.unfreeze()


def _objects() -> int:
    """How many objects there are, in one step: others cannot go on with tuples that the list of all holds."""
    return next(map(len, iter(gc.get_objects, None)))
