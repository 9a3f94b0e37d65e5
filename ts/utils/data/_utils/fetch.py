"""Fetchers of batches under PyTorch's private names.

`_MapDatasetFetcher(data, True, default_collate, False).fetch([0, 2])` returns a batch of data[0] and data[2].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ts.unsupported import names_for
from ts.utils.data.fetch import FetchSettings, make_fetcher

__all__ = ["_BaseDatasetFetcher", "_IterableDatasetFetcher", "_MapDatasetFetcher"]
__getattr__ = names_for(__name__)


class _BaseDatasetFetcher:
    """Fetcher of batches for one epoch. If `auto_collation`, `fetch` receives a list of sample indices."""

    _by_index = True

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return a batch."""
        raise NotImplementedError


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Fetcher of samples by index."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return the samples with these indices as a batch."""
        settings = FetchSettings(self.dataset, True, self.auto_collation, self.collate_fn, self.drop_last)
        return make_fetcher(settings)(possibly_batched_index)


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Fetcher of samples from an iterable data set."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool
    ) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self._fetch = make_fetcher(FetchSettings(dataset, False, auto_collation, collate_fn, drop_last))
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        """Return a batch with one sample per index. Raise StopIteration at the end."""
        try:
            batch = self._fetch(possibly_batched_index)
        except StopIteration:
            self.ended = True
            raise
        self.ended = bool(getattr(self._fetch, "_is_over", False))
        return batch
