"""The steps of `vmap`, as exported programs call them one by one.

_vmap_increment_nesting(5, "error")        a batch of five begins
y = _add_batch_dim(x, 0, 1)                x of shape (5, 3) is one tensor of shape (3,), five times
z = _remove_batch_dim(f(y), 1, 5, 0)       the results, with the batch as first dimension
_vmap_decrement_nesting()                  the batch ends
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ts._core.dispatch_layers.batched_tensor import batched, opened_batch, unbatched
from ts._core.tensor.tensor import Tensor
from ts._core.thread.transform_state import transforming


class _Open(threading.local):
    """The batches that have begun: what ends each, and its level."""

    def __init__(self) -> None:
        self.batches: list[tuple[ExitStack, Any]] = []


_open = _Open()


def lazy_load_decompositions() -> None:
    """Nothing: what operators do with batches is there."""


def _vmap_increment_nesting(batch_size: int, randomness: str) -> int:
    """Begin a batch; how many there are."""
    ends = ExitStack()
    level = ends.enter_context(opened_batch(batch_size, randomness))
    ends.enter_context(transforming())
    _open.batches.append((ends, level))
    return len(_open.batches)


def _vmap_decrement_nesting() -> int:
    """End the last one; how many there were."""
    ends, _ = _open.batches.pop()
    ends.close()
    return len(_open.batches) + 1


@contextmanager
def ended_by_errors() -> Iterator[None]:
    """What runs such steps: an error in between ends the batches that it left open."""
    before = len(_open.batches)
    try:
        yield
    except BaseException:
        while len(_open.batches) > before:
            _vmap_decrement_nesting()
        raise


def level_of(number: int) -> Any:
    """Return an open batch by its number, from 1."""
    return _open.batches[number - 1][1]


def _add_batch_dim(self: Tensor, batch_dim: int, level: int) -> Tensor:
    """A tensor as one of the batch at a level, whose elements lie along a dimension."""
    front = self if batch_dim == 0 else self.movedim(batch_dim, 0)
    return batched(level_of(level), front)


def _remove_batch_dim(self: Tensor, level: int, batch_size: int, out_dim: int) -> Tensor:
    """A tensor of the batch as one with another dimension."""
    return unbatched(level_of(level), self, out_dim)
