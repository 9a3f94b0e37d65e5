"""Samplers of data set indices: sequential, random (shuffle), weighted, batch and subset samplers.

The right column contains the results for a data set of five samples:

    list(SequentialSampler(data))                       [0, 1, 2, 3, 4]
    list(BatchSampler(RandomSampler(data), 2, False))   [[4, 0], [3, 1], [2]]

Random samplers use the same random numbers as PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import ts
from ts.ops.generator import Generator

T = TypeVar("T", covariant=True)
# number of indices drawn per call. It is the same as in PyTorch, because another number would change the
# order
_CHUNK_SAMPLES = 32


class Sampler(Generic[T]):
    """Base class of iterables over indices, or lists of indices."""

    def __init__(self, data_source: Any = None) -> None:
        super().__init__()

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """Sampler of 0, 1, 2, ..."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


def _check_count(num_samples: Any) -> None:
    if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples <= 0:
        raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")


def _check_flag(name: str, value: Any, error: type[Exception]) -> None:
    if not isinstance(value, bool):
        raise error(f"{name} should be a boolean value, but got {name}={value}")


class RandomSampler(Sampler[int]):
    """Sampler of indices in random order, with or without replacement."""

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        _check_flag("replacement", replacement, TypeError)
        _check_count(self.num_samples)

    @property
    def num_samples(self) -> int:
        """Number of indices in one epoch."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, generator = len(self.data_source), self.generator
        if generator is None:
            generator = Generator().manual_seed(int(ts.empty((), dtype=ts.int64).random_().item()))
        if self.replacement:
            for start in range(0, self.num_samples, _CHUNK_SAMPLES):
                count = min(_CHUNK_SAMPLES, self.num_samples - start)
                yield from ts.randint(high=n, size=(count,), dtype=ts.int64, generator=generator).tolist()
            return
        # The last permutation may be unused. It is drawn anyway, so that the generator has the same state
        # afterwards as in PyTorch.
        for start in range(0, self.num_samples + 1, n):
            yield from ts.randperm(n, generator=generator).tolist()[: self.num_samples - start]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Sampler of the given indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in ts.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Weighted sampling: random indices. The probability of index i is proportional to weights[i]."""

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_count(num_samples)
        _check_flag("replacement", replacement, ValueError)
        self.weights = ts.as_tensor(weights, dtype=ts.double)
        if self.weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        indices = ts.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from indices.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Sampler of lists of `batch_size` indices. If `drop_last`, a shorter last list is omitted."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        _check_flag("drop_last", drop_last, ValueError)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        size = len(self.sampler)  # type: ignore[arg-type]
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)


class DistributedSampler(Sampler[int]):
    """Sampler for one of several processes: every `num_replicas`-th index, from `rank` on.

    All processes receive the same number of indices.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            from ts.distributed.groups import get_rank, get_world_size

            num_replicas = get_world_size() if num_replicas is None else num_replicas
            rank = get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        size = len(dataset)
        shorter = drop_last and size % num_replicas != 0
        self.num_samples = math.ceil((size - num_replicas if shorter else size) / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        indices = list(range(len(self.dataset)))
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            indices = ts.randperm(len(indices), generator=generator).tolist()
        repeats = math.ceil(self.total_size / max(1, len(indices)))
        return iter((indices * repeats)[: self.total_size][self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch number, which is added to the seed."""
        self.epoch = epoch
