"""Map-style datasets, iterable datasets and random split.

In the example, `data[3]` is the pair `(inputs[3], targets[3])`. The last line splits the data at random:

    data = TensorDataset(inputs, targets)
    data[3]
    train, test = random_split(data, [0.8, 0.2])
"""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import ts
from ts._core.tensor.tensor import Tensor
from ts.ops.generator import Generator

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """Base class of data sets with access by index: subclasses define `__getitem__`, usually `__len__`."""

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Any]) -> Dataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T], Iterable[T]):
    """Base class of data sets that are iterated over: subclasses define `__iter__`."""

    def __add__(self, other: Dataset[Any]) -> Dataset[Any]:
        return ChainDataset([self, other])


def samples(dataset: Any, indices: list[Any]) -> Any:
    """Return the samples at `indices`.

    If the data set has a method `__getitems__`, call it once for all of them.
    """
    getitems = getattr(dataset, "__getitems__", None)
    return getitems(indices) if callable(getitems) else [dataset[index] for index in indices]


def _column(dataset: Any, indices: list[int]) -> Any:
    column = samples(dataset, indices)
    if len(column) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(column)}")
    return column


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Data set of the rows of several tensors."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """Data set whose samples are tuples or dictionaries of samples of several data sets."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, "
                "but both types are given."
            )
        self.datasets: Any = args or kwargs
        if not self.datasets:
            raise ValueError("At least one dataset should be passed")
        sizes = {len(dataset) for dataset in (args or kwargs.values())}
        if len(sizes) > 1:
            raise ValueError("Size mismatch between datasets")
        self._length = sizes.pop()

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """Return the samples at `indices`, by one call for each data set with `__getitems__`."""
        if isinstance(self.datasets, dict):
            columns = [_column(dataset, indices) for dataset in self.datasets.values()]
            return [dict(zip(self.datasets, row, strict=True)) for row in zip(*columns, strict=True)]
        return list(zip(*(_column(dataset, indices) for dataset in self.datasets), strict=True))

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T]):
    """Concatenation of data sets with access by index."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        lengths = (len(dataset) for dataset in self.datasets)  # type: ignore[arg-type]
        self.cumulative_sizes = list(itertools.accumulate(lengths))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        dataset_index = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[dataset_index - 1] if dataset_index else 0
        return self.datasets[dataset_index][index - before]


class ChainDataset(IterableDataset[Any]):
    """Concatenation of data sets that are iterated over."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            yield from _iterable(dataset)

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in map(_iterable, self.datasets))  # type: ignore[arg-type, misc]


def _iterable(dataset: Dataset[Any]) -> IterableDataset[Any]:
    if not isinstance(dataset, IterableDataset):
        raise AssertionError("ChainDataset only supports IterableDataset")
    return dataset


class Subset(Dataset[T]):
    """Subset of a data set: the samples at `indices`."""

    def __init__(self, dataset: Dataset[T], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            index = [self.indices[i] for i in index]
            return self.dataset[index]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """Return the samples at `indices`, by one call if the data set has `__getitems__`."""
        selected: list[Any] = samples(self.dataset, [self.indices[i] for i in indices])
        return selected

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset[T], lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[T]]:
    """Return random disjoint subsets. `lengths` are numbers of samples, or fractions."""
    total = len(dataset)  # type: ignore[arg-type]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for i, fraction in enumerate(lengths):
            if fraction < 0 or fraction > 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        sizes = [math.floor(total * fraction) for fraction in lengths]
        # Samples that remain after rounding down go to the first subsets, one each
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
        for i, size in enumerate(sizes):
            if size == 0:
                warnings.warn(
                    f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=2
                )
        lengths = sizes
    if sum(lengths) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = ts.randperm(total, generator=generator).tolist()
    offsets = list(itertools.accumulate(int(length) for length in lengths))
    return [
        Subset(dataset, indices[end - int(length) : end])
        for end, length in zip(offsets, lengths, strict=True)
    ]
