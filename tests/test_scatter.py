"""Native gather and scatter kernels equal the NumPy kernels, with fallbacks."""

import numpy as np
import pytest

import ts
from ts.backends.cpu.namespace import namespace
from ts.ops.registry import find

RANDOM = np.random.default_rng(0)
DTYPES = [ts.float32, ts.float64, ts.int64, ts.int32]
MOVED = [*DTYPES, ts.int16, ts.uint8, ts.bool, ts.float16, ts.bfloat16, ts.complex64, ts.uint32]
REDUCTIONS = ["sum", "prod", "mean", "amax", "amin"]


def numbers(*shape, dtype):
    return ts.tensor(RANDOM.integers(0, 5, shape)).to(dtype)


def indices(n, *shape, least=0, dtype=ts.int64):
    return ts.tensor(RANDOM.integers(least, n, shape), dtype=dtype)


def arrays(x):
    if isinstance(x, list):
        return [arrays(y) for y in x]
    return x.array if isinstance(x, ts.Tensor) else x


def agrees(name, *args, overload="", **options):
    """Check that a function and its in-place variant equal the record's kernel and leave the arguments
    unchanged."""
    expected = find(f"aten::{name}" + (f".{overload}" if overload else "")).kernel(
        namespace, *map(arrays, args), **options
    )
    before = args[0].clone()
    actual = getattr(ts, name)(*args, **options)
    assert actual.dtype is args[0].dtype and actual.numpy().tobytes() == np.ascontiguousarray(expected).tobytes()
    assert actual.stride() == ts.from_numpy(np.array(expected, order="K")).stride() or actual.numel() == 0
    assert before.numpy().tobytes() == args[0].contiguous().numpy().tobytes()
    if hasattr(before, f"{name}_"):
        version = before._version
        assert getattr(before, f"{name}_")(*args[1:], **options) is before and before._version == version + 1
        assert before.numpy().tobytes() == actual.numpy().tobytes()


def layouts(x):
    """Yield the tensor with several strides."""
    yield x
    yield x.t().contiguous().t()
    yield ts.stack([x, x], -1)[..., 0]


@pytest.mark.parametrize("dtype", MOVED, ids=str)
@pytest.mark.parametrize("narrow", [ts.int64, ts.int32], ids=str)
def test_scatter_and_gather(dtype, narrow):
    x = numbers(4, 6, dtype=dtype)
    for dim, shape in ((0, (5, 6)), (0, (2, 3)), (1, (4, 7)), (-1, (3, 2)), (1, (4, 1))):
        index = indices(x.shape[dim], *shape, dtype=narrow)
        source = numbers(5, 7, dtype=dtype)
        for i in layouts(index):
            for y in layouts(x):
                agrees("gather", y, dim, i)
                agrees("scatter", y, dim, i, source, overload="src")
    index = indices(4, 5, 1, dtype=narrow).expand(5, 6)
    agrees("gather", x, 0, index)
    agrees("scatter", x, 0, index, numbers(5, 6, dtype=dtype), overload="src")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions(dtype):
    x, source = numbers(4, 6, dtype=dtype), numbers(9, 8, dtype=dtype)
    for index in (indices(4, 9, 6), indices(4, 9, 1).expand(9, 6), indices(4, 1, 3)):
        agrees("scatter_add", x, 0, index, source)
        for reduction in REDUCTIONS:
            for include_self in (True, False):
                agrees("scatter_reduce", x, 0, index, source, reduction, include_self=include_self, overload="two")
    for dim in (0, 1):
        index = indices(x.shape[dim], 5)
        rows = numbers(*(5, 6) if dim == 0 else (4, 5), dtype=dtype)
        for y in layouts(rows):
            agrees("index_add", x, dim, index, y)
            agrees("index_add", x, dim, index, y, alpha=2) if dtype is ts.int64 else None
            agrees("index_copy", x, dim, index, y)
            for reduction in REDUCTIONS[1:]:
                for include_self in (True, False):
                    agrees("index_reduce", x, dim, index, y, reduction, include_self=include_self)


def test_nan_values():
    x = ts.tensor([1.0, float("nan"), 2.0])
    source = ts.tensor([float("nan"), 5.0, -1.0, float("inf")])
    index = ts.tensor([0, 1, 2, 2])
    for reduction in REDUCTIONS:
        agrees("scatter_reduce", x, 0, index, source, reduction, overload="two")
    agrees("scatter", x, 0, index, 2.5, overload="value")


@pytest.mark.parametrize("dtype", MOVED, ids=str)
def test_elements_by_several_indices(dtype):
    x = numbers(4, 5, 3, dtype=dtype)
    i, j, k = indices(4, 6, least=-4), indices(5, 6, least=-5, dtype=ts.int32), indices(3, 6, least=-3)
    index_lists = [
        [i],
        [i, j],
        [i, j, k],
        [i[:, None], j],
        [i, ts.tensor(2), k],
        [i.reshape(2, 3).t(), j.reshape(2, 3).t()],
        [i[::2], j[1::2]],
    ]
    for index_list in index_lists:
        agrees("index", x, index_list, overload="Tensor")
        shape = x[tuple(index_list)].shape
        for values in (
            numbers(*shape, dtype=dtype),
            numbers(dtype=dtype),
            numbers(1, dtype=dtype),
            numbers(shape[-1], dtype=dtype),
        ):
            agrees("index_put", x, index_list, values)
            if dtype in DTYPES:
                agrees("index_put", x, index_list, values, True)
    mask = numbers(4, 5, 3, dtype=ts.bool)
    agrees("index_put", x, [mask], numbers(dtype=dtype))
    agrees("index_select", x, 1, indices(5, 14)[::2])


def test_invalid_indices_write_nothing():
    x, beyond = ts.zeros(3, 2), ts.tensor([0, 1, 3])
    for index, error in (
        (beyond, (IndexError, RuntimeError)),
        (ts.tensor([0, 1, -4]), (IndexError, RuntimeError)),
    ):
        for write in (
            lambda i: x.index_add_(0, i, ts.ones(3, 2)), lambda i: x.index_copy_(0, i, ts.ones(3, 2)),
            lambda i: x.scatter_(0, i[:, None], 1.0), lambda i: x.scatter_add_(0, i[:, None].expand(3, 2), ts.ones(3, 2)),
            lambda i: x.scatter_reduce_(0, i[:, None], ts.ones(3, 2), "amax", include_self=False),
            lambda i: x.index_put_([i], ts.ones(1)), lambda i: x.index_put_([i], ts.ones(1), accumulate=True),
            lambda i: x.gather(0, i[:, None].expand(3, 2)), lambda i: x[i, ts.tensor([0, 1, 1])],
        ):  # fmt: skip
            with pytest.raises(error):
                write(index)
            assert x.count_nonzero() == 0


def test_overlapping_operands_use_the_record():
    x = ts.arange(4.0)
    with pytest.raises(RuntimeError):
        x.scatter_(0, ts.tensor([0, 1]), x[2:].as_strided((2,), (1,), 1), reduce="nothing")
    indices = ts.tensor([2, 0, 1])
    with pytest.raises(RuntimeError):
        ts.zeros(1).expand(3).scatter_(0, indices, 1.0)
    parameter = ts.nn.Parameter(ts.zeros(3))
    assert parameter.detach().index_add_(0, indices, ts.arange(3.0)).tolist() == [1, 2, 0]
