"""Batch fetching from a map-style data set by index, or from an iterable data set.

Input: indices. Output: a batch. The example returns `default_collate([data[3], data[1]])`:

    settings = FetchSettings(data, by_index=True, batched=True, collate_fn=default_collate, drop_last=False)
    make_fetcher(settings)([3, 1])

At the end of an iterable data set, the fetcher raises StopIteration.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ts.utils.data.dataset import samples


@dataclass(frozen=True)
class FetchSettings:
    """Settings for batches, which a loader shares with its workers."""

    dataset: Any
    by_index: bool  # True if samples are read by index, False for iterable data sets
    batched: bool  # True if each task is a list of indices, False if it is one index
    collate_fn: Callable[[Any], Any]
    drop_last: bool


def make_fetcher(settings: FetchSettings) -> Callable[[Any], Any]:
    """Return a function from an index (or a list of indices) to a batch, for one epoch."""
    return _by_index(settings) if settings.by_index else _IterableFetcher(settings)


def _by_index(settings: FetchSettings) -> Callable[[Any], Any]:
    dataset, collate = settings.dataset, settings.collate_fn
    if not settings.batched:
        return lambda index: collate(dataset[index])
    return lambda indices: collate(samples(dataset, indices))


class _IterableFetcher:
    """Fetcher for iterable data sets.

    It takes the next sample for each index, and ignores the value of the index.
    """

    def __init__(self, settings: FetchSettings) -> None:
        self._settings = settings
        self._samples = iter(settings.dataset)
        self._is_exhausted = False

    def __call__(self, indices: Any) -> Any:
        if self._is_exhausted:
            raise StopIteration
        if not self._settings.batched:
            return self._settings.collate_fn(next(self._samples))
        batch = list(itertools.islice(self._samples, len(indices)))
        self._is_exhausted = len(batch) < len(indices)
        if not batch or (self._is_exhausted and self._settings.drop_last):
            raise StopIteration
        return self._settings.collate_fn(batch)
