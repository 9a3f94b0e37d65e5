"""Room for the frames of what calls much: imports, and compilations.

    with_room(work, x)        work(x)

CPython keeps the frames of a thread in pieces of 16 KB.  The last piece goes back to the system as soon as no
frame is in it: where a loop happens to call at the end of one, each call takes a piece and gives it back, and
importing NumPy, which is a thousand such calls deep inside of our own imports, takes 7 ms longer.  A frame
that is larger than a piece gets one of its own, with as much room again for the frames of its calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

T = TypeVar("T")

_WORDS: Final = 16_384  # of the frame, of which none is touched: the piece has 256 KB


def with_room(work: Callable[..., T], *args: Any) -> T:
    """Call `work`, whose calls have their frames in a piece of memory that stays until it returns."""
    return work(*args)


with_room.__code__ = with_room.__code__.replace(co_stacksize=_WORDS)
