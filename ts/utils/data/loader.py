"""DataLoader: batches of a data set, in the order of a sampler.

    for x, y in DataLoader(data, batch_size=32, shuffle=True, drop_last=True): ...

Batches are loaded in this process, one after another, whatever `num_workers` says.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops.generator import Generator
from ts.utils.data.collate import default_collate, default_convert, mapped
from ts.utils.data.dataset import Dataset, IterableDataset
from ts.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

T = TypeVar("T", covariant=True)


class _Endless(Sampler[None]):
    """What stands for the indices of an iterable data set, which has none."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[T]):
    """Iterating gives batches; a new iteration starts anew, in a new order where that is random."""

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
        self.prefetch_factor = prefetch_factor
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
                order = _Endless()
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
        self._initialized = True
        if num_workers:
            warnings.warn(
                f"num_workers={num_workers}: there are no worker processes, batches are loaded in this one",
                stacklevel=2,
            )

    def __setattr__(self, name: str, value: Any) -> None:
        if self._initialized and name in self._FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        # PyTorch draws a seed for its workers here, also where there are none.
        ts.empty((), dtype=ts.int64).random_(generator=self.generator)
        batches = self._from_indices() if self._by_index else self._from_iterator()
        if not self.pin_memory:
            return batches
        if ts.cuda.is_available():
            return (mapped(_pinned, batch) for batch in batches)
        warnings.warn(
            "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory "
            "won't be used.",
            stacklevel=2,
        )
        return batches

    def _from_indices(self) -> Iterator[Any]:
        dataset = self.dataset
        if self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(dataset[index])  # type: ignore[arg-type]
            return
        several = getattr(dataset, "__getitems__", None)
        for indices in self.batch_sampler:
            samples = several(indices) if callable(several) else [dataset[index] for index in indices]
            yield self.collate_fn(samples)

    def _from_iterator(self) -> Iterator[Any]:
        samples: Iterator[Any] = iter(self.dataset)  # type: ignore[call-overload]
        if self.batch_size is None:
            yield from map(self.collate_fn, samples)
            return
        while batch := list(itertools.islice(samples, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        if self._by_index:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)  # type: ignore[arg-type]
        length = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


def get_worker_info() -> None:
    """What a worker process knows of itself; None, as samples are loaded in the program's own process."""


def _pinned(value: Any) -> Any:
    return value.pin_memory() if isinstance(value, Tensor) else value


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
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
            )
