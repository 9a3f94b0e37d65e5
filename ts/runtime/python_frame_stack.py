"""Allocation of a large chunk of Python's frame stack, which speeds up imports and compilations.

`preallocate_frames(work, x)` returns `work(x)`.

CPython allocates frames in chunks of 16 KB. It releases the last chunk as soon as it is empty. If the current
chunk is almost full, each function call in a loop allocates and releases a chunk. The frame of
`preallocate_frames` is larger than 16 KB and gets a chunk of twice its size. The rest of this chunk holds the
frames of the functions that `work` calls.
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
