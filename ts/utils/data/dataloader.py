"""DataLoader: batches of a data set, in the order of a sampler.

The loop receives batches of 32 samples in random order, without an incomplete batch:

    for x, y in DataLoader(data, batch_size=32, shuffle=True, drop_last=True): ...

Without workers, the process of the loop loads each batch when the loop requests it. With `num_workers`,
worker processes load batches in advance.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.context import BaseContext
from typing import Any, Final, Generic, TypeVar

from ts.ops.generator import Generator
from ts.utils.data._utils.fetch import _IterableDatasetFetcher, _MapDatasetFetcher
from ts.utils.data.collate import default_collate, default_convert
from ts.utils.data.dataset import Dataset, IterableDataset
from ts.utils.data.iterators import Batches, MultiProcessingIterator, SingleProcessIterator
from ts.utils.data.iterators import Batches as _BaseDataLoaderIter  # noqa: F401  PyTorch's names
from ts.utils.data.iterators import MultiProcessingIterator as _MultiProcessingDataLoaderIter  # noqa: F401
from ts.utils.data.iterators import SingleProcessIterator as _SingleProcessDataLoaderIter  # noqa: F401
from ts.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler
from ts.utils.data.worker import get_worker_info

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T = TypeVar("T", covariant=True)
_collate_fn_t = Callable[[list[Any]], Any]
_worker_init_fn_t = Callable[[int], None]


class _DatasetKind:
    """Kinds of data sets: access by index, or iteration."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(
        kind: int, dataset: Any, auto_collation: bool, collate_fn: _collate_fn_t, drop_last: bool
    ) -> Any:
        """Return the fetcher of batches for one epoch."""
        cls = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return cls(dataset, auto_collation, collate_fn, drop_last)


class _InfiniteSampler(Sampler[None]):
    """Sampler of None indices without end, for iterable data sets."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[T]):
    """Iterable over the batches of a data set. Each iteration is a new epoch."""

    _FIXED: Final = (
        "batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers",
    )  # fmt: skip
    _initialized = False

    def __init__(
        self,
        dataset: Dataset[T],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset: Any = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._by_index = not isinstance(dataset, IterableDataset)
        if not self._by_index:
            _check_iterable(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                    "drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        order: Any = sampler
        if order is None:
            data: Any = dataset
            if not self._by_index:
                order = _InfiniteSampler()
            else:
                order = RandomSampler(data, generator=generator) if shuffle else SequentialSampler(data)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(order, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = order
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self._last_length: int | None = None  # last known `len` of an iterable data set
        self._persistent_iterator: MultiProcessingIterator | None = None
        self._initialized = True
        if num_workers:
            _warn_about_worker_count(num_workers)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._initialized and name in self._FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        """Multiprocessing context that starts the workers. None means Python's default."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        self._context = _context(context, self.num_workers)

    @property
    def _index_sampler(self) -> Any:
        """Sampler that yields one index, or one list of indices, for each batch."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self) -> Batches:
        if self.num_workers == 0:
            return SingleProcessIterator(self)
        if not self.persistent_workers:
            return MultiProcessingIterator(self)
        if self._persistent_iterator is None:
            self._persistent_iterator = MultiProcessingIterator(self)
        else:
            self._persistent_iterator.start(self._last_length)
        return self._persistent_iterator

    def __len__(self) -> int:
        if self._by_index:
            return len(self._index_sampler)
        length = self._last_length = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


def _context(context: Any, num_workers: int) -> Any:
    """Return the multiprocessing context for an object or the name of a start method."""
    if context is None:
        return None
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            f"num_workers={num_workers}"
        )
    if isinstance(context, str):
        methods = multiprocessing.get_all_start_methods()
        if context not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                f"multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the "
            f"start method, but got multiprocessing_context={context}"
        )
    return context


def _warn_about_worker_count(num_workers: int) -> None:
    """Warn of oversubscription: more workers than processors are rarely faster than fewer workers."""
    has_affinity = hasattr(os, "sched_getaffinity")
    processors = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 0
    if 0 < processors >= num_workers:
        return
    suggested = "DataLoader is not able to compute a suggested max number of worker in current system."
    if processors:
        suggested = (
            f"Our suggested max number of worker in current system is {processors}"
            f"{'' if has_affinity else ' (`cpuset` is not taken into account)'}, which is smaller than what "
            "this DataLoader is going to create."
        )
    warnings.warn(
        f"This DataLoader will create {num_workers} worker processes in total. {suggested} Please be aware "
        "that excessive worker creation might get DataLoader running slow or even freeze, lower the worker "
        "number to avoid potential slowness/freeze if necessary.",
        stacklevel=3,
    )


def _check_workers(count: int, timeout: float, prefetch: int | None, persistent: bool) -> None:
    if count < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if count == 0 and prefetch is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch is not None and prefetch < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and count == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    options = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in options.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
            )
