"""Data sets and loaders: properties that do not depend on PyTorch's random numbers."""

import pytest

import ts
from ts.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Subset,
    TensorDataset,
    default_collate,
    random_split,
)


def test_every_sample_comes_once():
    """A shuffled loader yields every sample once, in an order drawn from the generator, different in each
    pass."""
    data = TensorDataset(ts.arange(100), -ts.arange(100))
    loader = DataLoader(data, batch_size=7, shuffle=True, generator=ts.Generator().manual_seed(1))
    first, second = ([pair for x, y in loader for pair in zip(x.tolist(), y.tolist(), strict=True)] for _ in "ab")
    assert first != second and sorted(first) == sorted(second) == [(i, -i) for i in range(100)]
    again = DataLoader(data, batch_size=7, shuffle=True, generator=ts.Generator().manual_seed(1))
    assert [i for x, _ in again for i in x.tolist()] == [i for i, _ in first]


def test_a_shorter_last_batch_can_be_dropped():
    assert [len(batch) for batch in DataLoader(range(10), 4)] == [4, 4, 2]
    assert [len(batch) for batch in DataLoader(range(10), 4, drop_last=True)] == [4, 4]
    assert list(BatchSampler(range(3), 2, False)) == [[0, 1], [2]]


def test_iterable_data():
    class Lines(IterableDataset):
        def __iter__(self):
            yield from ("a", "bc", "d")

    assert list(DataLoader(Lines(), 2)) == [["a", "bc"], ["d"]]
    assert list(DataLoader(Lines() + Lines(), None)) == ["a", "bc", "d"] * 2


def test_samples_fetched_together():
    """`__getitems__` is called with the indices of whole batches, also through subsets."""
    requested = []

    class Table(Dataset):
        def __len__(self):
            return 6

        def __getitems__(self, indices):
            requested.append(indices)
            return [10 * i for i in indices]

    assert [b.tolist() for b in DataLoader(Subset(Table(), [5, 3, 1]), 2)] == [[50, 30], [10]]
    assert requested == [[5, 3], [1]]


def test_random_split_covers_everything():
    parts = random_split(range(10), [0.5, 0.25, 0.25], generator=ts.Generator().manual_seed(0))
    assert [len(part) for part in parts] == [6, 2, 2]  # the remainder of rounding is added to the first part
    assert sorted(i for part in parts for i in part) == list(range(10))


def test_collate_keeps_structure():
    batch = default_collate([{"x": (1, [2.0])}, {"x": (3, [4.0])}])
    assert batch["x"][0].tolist() == [1, 3] and batch["x"][1][0].tolist() == [2.0, 4.0]
    assert batch["x"][0].dtype is ts.int64 and batch["x"][1][0].dtype is ts.float64


def test_sampler_with_replacement_stays_inside():
    indices = list(RandomSampler(range(3), replacement=True, num_samples=100))
    assert len(indices) == 100 and set(indices) == {0, 1, 2}


def test_dlpack_capsules():
    x = ts.zeros(2)
    ts.utils.dlpack.from_dlpack(ts.utils.dlpack.to_dlpack(x)).add_(1)
    assert x.tolist() == [1, 1]


def test_collate_with_custom_functions():
    """PyTorch's private module `collate`, which programs import, accepts custom collate functions."""
    from ts.utils.data._utils.collate import collate, default_collate_fn_map

    class Point:
        def __init__(self, x):
            self.x = x

    def points(batch, *, collate_fn_map=None):
        return [p.x for p in batch]

    functions = {**default_collate_fn_map, Point: points}
    assert collate([(Point(1), 2), (Point(3), 4)], collate_fn_map=functions)[0] == [1, 3]
    with pytest.raises(TypeError, match="must contain tensors"):
        collate([Point(1)], collate_fn_map=default_collate_fn_map)
