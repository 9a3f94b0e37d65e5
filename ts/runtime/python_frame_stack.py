"""Allocation of a large chunk of Python's frame stack, which speeds up imports and compilations.

    preallocate_frames(work, x)        work(x)

CPython allocates the frames of a thread in chunks of 16 KB, and releases the last chunk as soon as it is
empty. If a loop calls functions while the current chunk is almost full, each call allocates and releases a
chunk. This happens about a thousand times during the import of NumPy, and costs 7 ms. A frame larger than a
chunk gets a separate chunk of twice its size. The rest of this chunk holds the frames of the functions that
are called from the large frame.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

T = TypeVar("T")

# stack size of the frame of `preallocate_frames`. It is so large that Python allocates a chunk of 256 KB for
# it
_FRAME_SIZE_WORDS: Final = 16_384


def preallocate_frames(work: Callable[..., T], *args: Any) -> T:
    """Call `work` with a chunk of the frame stack that stays allocated until `work` returns."""
    return work(*args)


preallocate_frames.__code__ = preallocate_frames.__code__.replace(co_stacksize=_FRAME_SIZE_WORDS)
