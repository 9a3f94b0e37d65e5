"""Functions that exported programs call, each of which performs one step of `vmap`.

The example applies `f` to each of the 5 rows of x:

    _vmap_increment_nesting(5, "error")        starts a vmap level of batch size 5
    y = _add_batch_dim(x, 0, 1)                x of shape (5, 3) becomes a batch of shape (3,)
    z = _remove_batch_dim(f(y), 1, 5, 0)       the results, with the batch as first dimension
    _vmap_decrement_nesting()                  ends the level
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ts._core.dispatch_layers.batched_tensor import batched, opened_batch, unbatched
from ts._core.tensor.tensor import Tensor
from ts._core.thread.transform_state import transforming


class _OpenBatches(threading.local):
    """Stack of this thread's vmap levels: (exit stack that ends the level, transform level)."""

    def __init__(self) -> None:
        self.batches: list[tuple[ExitStack, Any]] = []


_open_batches = _OpenBatches()


def lazy_load_decompositions() -> None:
    """Do nothing, because `ts` needs no separate step to load batching rules."""


def _vmap_increment_nesting(batch_size: int, randomness: str) -> int:
    """Start a vmap level and return the nesting depth."""
    exit_stack = ExitStack()
    level = exit_stack.enter_context(opened_batch(batch_size, randomness))
    exit_stack.enter_context(transforming())
    _open_batches.batches.append((exit_stack, level))
    return len(_open_batches.batches)


def _vmap_decrement_nesting() -> int:
    """End the innermost vmap level. Return the nesting depth that was active before the call."""
    exit_stack, _ = _open_batches.batches.pop()
    exit_stack.close()
    return len(_open_batches.batches) + 1


@contextmanager
def pop_levels_on_error() -> Iterator[None]:
    """Context manager that ends the vmap levels started in the `with` block if the block raises an error."""
    before = len(_open_batches.batches)
    try:
        yield
    except BaseException:
        while len(_open_batches.batches) > before:
            _vmap_decrement_nesting()
        raise


def level_of(depth: int) -> Any:
    """Return the transform level of vmap level number `depth`, counted from 1 for the outermost one."""
    return _open_batches.batches[depth - 1][1]


def _add_batch_dim(self: Tensor, batch_dim: int, level: int) -> Tensor:
    """Return `self` as a batched tensor of `vmap` level `level` (from 1).

    `batch_dim` is its batch dimension.
    """
    front = self if batch_dim == 0 else self.movedim(batch_dim, 0)
    return batched(level_of(level), front)


def _remove_batch_dim(self: Tensor, level: int, batch_size: int, out_dim: int) -> Tensor:
    """Return a plain tensor, in which the batch dimension of `vmap` level `level` is dimension `out_dim`."""
    return unbatched(level_of(level), self, out_dim)
