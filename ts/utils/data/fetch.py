"""Batch fetching from a data set by index or index list.

Input: a data set, settings for batches, and indices. Output: batches; StopIteration at the end.

    fetch = fetcher(Fetching(data, by_index=True, batched=True, collate_fn=default_collate, drop_last=False))
    fetch([3, 1])           default_collate([data[3], data[1]])
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ts.utils.data.dataset import samples


@dataclass(frozen=True)
class Fetching:
    """Settings for batches, which a loader shares with its workers."""

    dataset: Any
    by_index: bool  # False for iterable data sets
    batched: bool  # True if a task contains a list of indices
    collate_fn: Callable[[Any], Any]
    drop_last: bool


def fetcher(how: Fetching) -> Callable[[Any], Any]:
    """Return a function from an index (or a list of indices) to a batch, for one epoch."""
    return _by_index(how) if how.by_index else _OneAfterAnother(how)


def _by_index(how: Fetching) -> Callable[[Any], Any]:
    dataset, collate = how.dataset, how.collate_fn
    if not how.batched:
        return lambda index: collate(dataset[index])
    return lambda indices: collate(samples(dataset, indices))


class _OneAfterAnother:
    """Fetcher for iterable data sets; it ignores the values of the indices and uses only their number."""

    def __init__(self, how: Fetching) -> None:
        self._how = how
        self._samples = iter(how.dataset)
        self._is_over = False

    def __call__(self, indices: Any) -> Any:
        if self._is_over:
            raise StopIteration
        if not self._how.batched:
            return self._how.collate_fn(next(self._samples))
        batch = list(itertools.islice(self._samples, len(indices)))
        self._is_over = len(batch) < len(indices)
        if not batch or (self._is_over and self._how.drop_last):
            raise StopIteration
        return self._how.collate_fn(batch)
