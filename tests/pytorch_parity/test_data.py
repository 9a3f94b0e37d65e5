"""Data sets, samplers, loaders and collation equal PyTorch's: values, seeds, order, errors, warnings."""

import collections
import random
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import torch.utils.data  # noqa: E402

import ts  # noqa: E402
from tests.pytorch_parity.test_names import has  # noqa: E402

Pair = collections.namedtuple("Pair", "x y")


def comparable(value):
    """Return tensors as lists, with their dtype."""
    if isinstance(value, (ts.Tensor, torch.Tensor)):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, dict):
        return {key: comparable(v) for key, v in value.items()}
    if isinstance(value, np.ndarray):
        return "array", value.tolist()
    if isinstance(value, (list, tuple, collections.deque)):
        return type(value).__name__, [comparable(v) for v in value]
    return value


def outcome(function, library):
    """Return the result or error of a function with a library, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = comparable(function(library))
        except Exception as error:
            result = type(error).__name__, str(error).replace("ts.Tensor", "torch.Tensor")
    # Warnings name data sets by their addresses.
    return result, [str(w.message).partition(" object at ")[2][16:] or str(w.message) for w in caught]


def assert_equal_outcomes(function):
    """Check that both libraries have equal outcomes."""
    assert outcome(function, ts) == outcome(function, torch)


def samples_of(library):
    class Samples(library.utils.data.Dataset):
        def __len__(self):
            return 11

        def __getitem__(self, i):
            info = library.utils.data.get_worker_info()
            about = (info.id, info.num_workers, info.seed) if info else None
            return (i, library.rand(2).tolist(), random.random(), np.random.rand(), about) if info else i

    return Samples()


def stream_of(library, length=3):
    class Stream(library.utils.data.IterableDataset):
        def __len__(self):
            return length

        def __iter__(self):
            info = library.utils.data.get_worker_info()
            first = 100 * info.id if info else 0
            yield from range(first, first + (3 if first else 7))

    return Stream()


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("seeded", [False, True])
def test_loaders_by_index(workers, persistent, seeded):
    """Shuffled loaders have PyTorch's permutations, worker seeds and random numbers over several passes, and
    leave its generator state."""

    def passes(library):
        library.manual_seed(5)
        loader = library.utils.data.DataLoader(
            samples_of(library), 3, shuffle=True, num_workers=workers, persistent_workers=persistent and workers > 0,
            collate_fn=list, multiprocessing_context="fork" if workers else None,
            generator=library.Generator().manual_seed(3) if seeded else None,
        )  # fmt: skip
        return [list(loader), list(loader), library.rand(1)]

    assert_equal_outcomes(passes)


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("size", [None, 2, 4])
@pytest.mark.parametrize("more", [{}, {"drop_last": True}, {"persistent": True}])
def test_loaders_one_after_another(workers, size, more):
    """Batches keep their order if workers finish at different times; a wrong length issues a warning."""

    def passes(library):
        options = dict(more)
        persistent = options.pop("persistent", False) and workers > 0
        loader = library.utils.data.DataLoader(
            stream_of(library), size, num_workers=workers, persistent_workers=persistent,
            multiprocessing_context="fork" if workers else None, **options,
        )  # fmt: skip
        return [list(loader), len(loader), list(loader)]

    assert_equal_outcomes(passes)


def test_samplers_that_draw_when_they_start():
    """A sampler starts before the workers' seed is drawn, as in PyTorch, and twice with workers."""
    for workers in (0, 1):

        def draw_indices(library, workers=workers):
            class Eager(library.utils.data.Sampler):
                def __iter__(self):
                    return iter(library.randperm(5).tolist())

            library.manual_seed(1)
            data = range(5)
            loader = library.utils.data.DataLoader(
                data,
                2,
                sampler=Eager(),
                num_workers=workers,
                multiprocessing_context="fork" if workers else None,
            )
            return [list(loader), library.rand(1)]

        assert_equal_outcomes(draw_indices)


COLLATED = [
    "[(1, {'a': 2.0}), (3, {'a': 4.0})]", "[T.ones(2), T.zeros(2)]", "[T.ones(2), T.zeros(3)]", "[1, 2.5]", "[True, False]", "[1.5, 2]",
    "['a', 'b']", "[b'a', b'b']", "[Pair(1, 2), Pair(3, 4)]", "[[1, 2], [3]]", "[[1, 2], [3, 4]]", "[(), ()]", "[{'a': 1}, {'b': 2}]",
    "[{'a': 1}, {'a': 2, 'b': 3}]", "[None, None]", "[object, object]", "[{1}, {2}]", "[np.float32(1), np.float32(2)]", "[np.bool_(True)]",
    "[np.ones(2), np.zeros(2)]", "[np.array('a')]", "[np.array(['a', 'b'])]", "[np.ones(2, dtype=object)]", "[np.str_('a')]",
    "[np.array(3), np.array(4)]", "[1j, 2j]", "[]", "[2**70]", "[range(3), range(3)]", "[collections.OrderedDict(b=1, a=2)] * 2",
    "[collections.defaultdict(int, a=1)] * 2", "[collections.deque([1, 2])] * 2", "[bytearray(b'ab')] * 2", "[np.datetime64('2020')]",
    "[T.ones(2, dtype=T.bfloat16), T.ones(2)]", "[T.ones((), requires_grad=True)]", "[[T.ones(1), 'a'], [T.ones(1), 'b']]", "[1, 'a']", "['a', 1]",
    "[(1, 2), [3, 4]]", "[np.float64(1), 2.0]", "[np.int8(1)] * 2", "[memoryview(b'ab')] * 2",
]  # fmt: skip


@pytest.mark.parametrize("function", ["default_collate", "default_convert"])
@pytest.mark.parametrize("text", COLLATED)
def test_collation(function, text):
    def result(library):
        names = {"T": library, "np": np, "Pair": Pair, "collections": collections}
        return getattr(library.utils.data, function)(eval(text, names))

    assert_equal_outcomes(result)


TEXTS = [
    "[len(p) for p in D.random_split(range(10), [0.5, 0.3, 0.2])]", "D.random_split(range(10), [0.5, 0.6])", "D.random_split(range(10), [11])",
    "[list(p) for p in D.random_split(range(10), [3, 7], generator=T.Generator().manual_seed(2))]", "D.random_split(range(3), [-0.5, 1.5])",
    "[list(p) for p in D.random_split(range(10), [0.33, 0.33, 0.34], generator=T.Generator().manual_seed(2))]",
    "[len(p) for p in D.random_split(range(3), [0.1, 0.1, 0.8])]", "[len(p) for p in D.random_split(range(2), [0.5, 0.25, 0.25])]",
    "D.random_split(range(4), [])", "[len(p) for p in D.random_split(range(4), [0, 4])]", "D.random_split(range(4), [1.0])[0].indices.__len__()",
    "list(D.ConcatDataset([range(3), range(5)]))", "D.ConcatDataset([])", "D.ConcatDataset([range(3)])[-4]", "D.ConcatDataset([range(3), range(2)])[-1]",
    "D.ConcatDataset([range(3)])[3]", "D.ConcatDataset([range(3), [1]]).cumulative_sizes", "D.ConcatDataset([D.IterableDataset()])",
    "D.StackDataset(range(3), [4, 5, 6])[1]", "D.StackDataset(a=range(3), b=[4, 5, 6])[1]", "D.StackDataset()", "D.StackDataset(range(3), [1])",
    "D.StackDataset(range(3), a=range(3))", "len(D.StackDataset(a=range(3)))", "D.StackDataset(range(3), [4, 5, 6]).__getitems__([0, 2])",
    "D.StackDataset(a=range(3), b=[4, 5, 6]).__getitems__([0, 2])", "D.StackDataset(D.Subset(range(9), [3, 4])).__getitems__([1, 0])",
    "D.StackDataset(a=range(3), b=[4])",
    "D.Subset(range(10), [4, 2])[0]", "D.Subset(range(10), [4, 2])[[0, 1]]", "D.Subset([5, 6, 7], [2, 0]).__getitems__([0, 1])", "len(D.Subset(range(9), [1]))",
    "D.TensorDataset(T.ones(2), T.ones(3))", "D.TensorDataset(T.arange(3), T.arange(3) * 2)[1]", "len(D.TensorDataset(T.ones(3, 2)))", "D.TensorDataset(T.arange(4))[1:3]",
    "list(D.ChainDataset([range(3)]))", "len(D.ChainDataset([range(3)]))", "D.Dataset()[0]", "len(D.Dataset())", "type(D.Dataset() + D.Dataset())",
    "list(D.BatchSampler(range(5), 2, False))", "list(D.BatchSampler(range(5), 2, True))", "D.BatchSampler(range(5), 0, False)", "D.BatchSampler(range(5), True, False)",
    "D.BatchSampler(range(5), 2, 1)", "len(D.BatchSampler(range(5), 2, False))", "len(D.BatchSampler(range(5), 2, True))", "D.BatchSampler(range(5), 2.5, False)",
    "list(D.BatchSampler(iter(range(3)), 5, False))", "list(D.BatchSampler([], 2, False))",
    "D.RandomSampler(range(0))", "D.RandomSampler(range(3), num_samples=0)", "D.RandomSampler(range(3), replacement=1)", "D.RandomSampler(range(3), num_samples=2.5)",
    "list(D.RandomSampler(range(5), num_samples=12, generator=T.Generator().manual_seed(1)))",
    "list(D.RandomSampler(range(5), True, 50, generator=T.Generator().manual_seed(1)))", "len(D.RandomSampler(range(5), True, 50))",
    "list(D.SubsetRandomSampler([5, 6, 9], generator=T.Generator().manual_seed(1)))", "len(D.SubsetRandomSampler([1, 2]))", "list(D.SequentialSampler(range(3)))",
    "list(D.WeightedRandomSampler([0.1, 0.5, 0.4], 10, generator=T.Generator().manual_seed(1)))", "D.WeightedRandomSampler([[0.1]], 1)", "D.WeightedRandomSampler([1], 0)",
    "D.WeightedRandomSampler([1], 1, replacement=2)", "list(D.WeightedRandomSampler([1, 2], 3, False))", "D.WeightedRandomSampler([0.5, 1], 3).weights",
    "list(D.WeightedRandomSampler([0.9, 0.4, 0.05], 3, False, generator=T.Generator().manual_seed(1)))", "len(D.WeightedRandomSampler([1, 2], 7))",
    "list(D.DistributedSampler(range(10), 3, 1, shuffle=False))", "list(D.DistributedSampler(range(10), 3, 2, seed=4))", "D.DistributedSampler(range(10), 3, 3)",
    "list(D.DistributedSampler(range(10), 3, 1, drop_last=True))", "len(D.DistributedSampler(range(10), 3, 1))", "list(D.DistributedSampler(range(2), 5, 4))",
    "[s.set_epoch(3), list(s)] if (s := D.DistributedSampler(range(10), 3, 1)) else 0", "D.DistributedSampler(range(10), 3, -1)",
    "D.DataLoader(range(3), num_workers=-1)", "D.DataLoader(range(3), timeout=-1)", "D.DataLoader(range(3), prefetch_factor=2)",
    "D.DataLoader(range(3), num_workers=1, prefetch_factor=-2)", "D.DataLoader(range(3), persistent_workers=True)", "D.DataLoader(range(3), shuffle=True, sampler=[1])",
    "D.DataLoader(range(3), 2, batch_sampler=[[1]])", "D.DataLoader(range(3), None, drop_last=True)", "D.DataLoader(range(3), None, shuffle=True).batch_sampler",
    "D.DataLoader(range(3), multiprocessing_context='fork')", "D.DataLoader(range(3), num_workers=1, multiprocessing_context='fish')",
    "D.DataLoader(range(3), num_workers=1, multiprocessing_context=3)", "D.DataLoader(range(3), 0)", "D.DataLoader(range(0), shuffle=True)",
    "D.DataLoader(range(3), num_workers=1).prefetch_factor", "D.DataLoader(range(3)).prefetch_factor", "setattr(D.DataLoader(range(3)), 'batch_size', 2)",
    "list(D.DataLoader(range(3), 2, pin_memory=True))", "list(D.DataLoader(range(3), 2, pin_memory=True, pin_memory_device='cuda'))",
    "list(D.DataLoader(range(5), batch_sampler=[[1, 0], [4]]))", "list(D.DataLoader(range(5), None, sampler=[[1, 0], 4], collate_fn=str))",
    "list(D.DataLoader({'a': 1, 'b': 2}, sampler=['b', 'a']))", "len(D.DataLoader(range(5), 2))", "len(D.DataLoader(range(5), 2, drop_last=True))", "len(D.DataLoader(range(5), None))",
    "list(D.DataLoader([np.ones(2), np.zeros(2)], None))", "list(D.DataLoader(range(3), sampler=D.Sampler()))", "D.DataLoader(range(3), num_workers=99).num_workers",
    "len(iter(D.DataLoader(range(5), 2)))", "D.DataLoader(range(3), 2, True).sampler.replacement",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_single_expressions(text):
    def result(library):
        library.manual_seed(0)
        value = eval(text, {"T": library, "D": library.utils.data, "np": np, "str": str})
        return (
            value
            if isinstance(value, (int, float, list, tuple, dict, library.Tensor))
            else type(value).__name__
        )

    assert_equal_outcomes(result)


def test_names():
    """All public names exist, except PyTorch's deprecated data pipes."""
    given_up = {
        "DFIterDataPipe", "DataChunk", "IterDataPipe", "MapDataPipe", "argument_validation",
        "guaranteed_datapipes_determinism", "non_deterministic", "runtime_validation", "runtime_validation_disabled",
    }  # fmt: skip
    missing = {name for name in torch.utils.data.__all__ if not has(ts.utils.data, name)}
    assert missing == given_up


@pytest.mark.parametrize(
    "error", [KeyError("k"), ValueError("v"), UnicodeDecodeError("utf8", b"a", 0, 1, "r"), OSError(2, "no")]
)
def test_failures_of_workers(error):
    """The exception of a failed worker has PyTorch's class and first lines."""

    def failing(library):
        class Bad(library.utils.data.Dataset):
            def __len__(self):
                return 2

            def __getitem__(self, i):
                raise error

        with pytest.raises(Exception) as caught:
            list(library.utils.data.DataLoader(Bad(), num_workers=1, multiprocessing_context="fork"))
        lines = str(caught.value).splitlines()
        return type(caught.value).__name__, lines[:2], lines[-1]

    assert failing(ts) == failing(torch)
