"""Operators with native kernels equal PyTorch's for every supported and unsupported shape, dtype and
layout."""

import numpy as np
import pytest

import ts

torch = pytest.importorskip("torch")

SHAPES = [
    (), (1,), (7,), (100,), (5000,), (0,), (3, 0), (1, 1), (3, 5), (5, 300), (300, 5), (2, 3, 4), (2, 33, 17),
    (4, 1, 3), (2, 600, 3),
]  # fmt: skip
DTYPES = ["float32", "float64", "int64", "int32", "uint8", "bool", "float16"]
TOLERANCE = {"float16": 3e-3, "float32": 2e-5, "float64": 1e-12}
DIMS = (None, 0, -1, 1, [0, 1], [0, -1])
REDUCTIONS = {
    "sum": lambda x, d: x.sum() if d is None else x.sum(d),
    "sum, kept": lambda x, d: x.sum() if d is None else x.sum(d, True),
    "mean": lambda x, d: x.mean() if d is None else x.mean(d),
    "largest": lambda x, d: x.max() if d is None else x.amax(d),
    "smallest": lambda x, d: x.min() if d is None else x.amin(d, True),
    "var": lambda x, d: x.var() if d is None else x.var(d),
    "std": lambda x, d: x.std(unbiased=False) if d is None else x.std(d, correction=2.5, keepdim=True),
}
ALONG = {
    "any": lambda x, d: x.any(d),
    "all": lambda x, d: x.all(d, keepdim=True),
    "argmax": lambda x, d: x.argmax(d),
    "argmin": lambda x, d: x.argmin(d, True),
    "max": lambda x, d: tuple(x.max(d)),
    "min": lambda x, d: tuple(x.min(d, keepdim=True)),
    "count_nonzero": lambda x, d: x.count_nonzero(d),
    "softmax": lambda x, d: x.softmax(d) if x.is_floating_point() else x,
    "log_softmax": lambda x, d: x.log_softmax(d) if x.is_floating_point() else x,
    "logsumexp": lambda x, d: x.logsumexp(d) if x.is_floating_point() else x,
    "cumsum": lambda x, d: x.cumsum(d),
    "norm": lambda x, d: x.norm(2, d) if x.is_floating_point() else x,
}


def filled(shape, dtype):
    """Yield arrays of random elements, for floats also with NaN, infinities and an offset."""
    random = np.random.default_rng(7)
    plain = random.standard_normal(shape) * 3
    yield np.asarray(abs(plain) if dtype == "uint8" else plain).astype(dtype)
    if dtype in ("float32", "float64") and plain.size:
        for value in (np.nan, np.inf, -np.inf):
            x = np.array(plain, dtype)
            x.reshape(-1)[random.integers(0, x.size, max(1, x.size // 7))] = value
            yield x
        yield np.full(shape, -np.inf, dtype)
        yield np.asarray(plain + 1000, dtype)


def layouts(x):
    yield x
    if x.ndim >= 2:
        yield np.ascontiguousarray(x.T).T
    if x.ndim and x.size:
        yield np.repeat(x, 2, axis=-1)[..., ::2]


def outcome(lib, function, array, dim):
    try:
        return function(lib.from_numpy(array), dim)
    except (RuntimeError, IndexError):
        return "an error"


def agree(ours, theirs, tolerance):
    if isinstance(theirs, str):
        assert ours == theirs
        return
    if isinstance(theirs, tuple):
        assert type(ours) is type(theirs)
        for a, b in zip(ours, theirs, strict=True):
            agree(a, b, tolerance)
        return
    assert str(ours.dtype) == str(theirs.dtype)
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, dtype):
    for shape in SHAPES:
        for x in filled(shape, dtype):
            for array in layouts(x):
                for dim in DIMS:
                    results = [outcome(lib, REDUCTIONS[name], array, dim) for lib in (ts, torch)]
                    agree(*results, TOLERANCE.get(dtype, 0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ALONG)
def test_along_a_dimension(name, dtype):
    for shape in SHAPES:
        for x in filled(shape, dtype):
            for array in layouts(x):
                for dim in (0, -1, 1):
                    results = [outcome(lib, ALONG[name], array, dim) for lib in (ts, torch)]
                    agree(*results, TOLERANCE.get(dtype, 0))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 5), (2, 4, 6), (1, 2, 300), (3, 6, 7, 2)])
def test_normalisation(shape, dtype):
    """Normalization equals PyTorch's with and without weights, on shared memory."""
    tolerance = TOLERANCE[dtype] * 10
    channels, last = shape[1], shape[-1]
    for x in filled(shape, dtype):
        if np.isinf(x).any() or x.max() > 500:  # with a large offset, PyTorch's own results lose precision
            continue
        for array in layouts(x):
            for weighted in (False, True):
                results = []
                for lib in (ts, torch):

                    def vector(n, start, lib=lib):
                        return lib.from_numpy(np.linspace(start, 2, n).astype(dtype)) if weighted else None

                    mean, variance = (
                        lib.from_numpy(np.linspace(s, 2, channels).astype(dtype)) for s in (-1, 0.5)
                    )
                    t = lib.from_numpy(array)
                    results.append((
                        lib.layer_norm(t, [last], vector(last, 0.5), vector(last, -1)),
                        lib.layer_norm(t, shape[1:]),
                        lib.batch_norm(t, vector(channels, 0.5), vector(channels, -1), mean, variance, False, 0.1, 1e-5, False),
                        lib.group_norm(t, channels, vector(channels, 0.5), vector(channels, -1)) if len(shape) > 2 else t,
                    ))  # fmt: skip
                agree(*results, tolerance)


def indices(lib, *values):
    return lib.tensor(list(values))


SELECTIONS = {
    "cat": lambda lib, x, d: lib.cat([x, x, x], d),
    "cat of two lengths": lambda lib, x, d: lib.cat([x, x.narrow(d, 0, 1)], d),
    "stack": lambda lib, x, d: lib.stack([x, x], d),
    "index_select": lambda lib, x, d: lib.index_select(x, d, indices(lib, 0, 0, x.shape[d] - 1)),
    "index_select, too far": lambda lib, x, d: lib.index_select(x, d, indices(lib, 0, x.shape[d])),
    "gather": lambda lib, x, d: lib.gather(x, d, lib.full(x.shape, x.shape[d] - 1)),
    "gather, less": lambda lib, x, d: lib.gather(x, d, lib.zeros([1] * x.ndim, dtype=lib.int32)),
    "gather, before": lambda lib, x, d: lib.gather(x, d, lib.full(x.shape, -1)),
    "take": lambda lib, x, d: lib.take(x, indices(lib, 0, -1)),
    "where": lambda lib, x, d: lib.where(x > 0, x, x[:1]),
    "where, number": lambda lib, x, d: lib.where(x > 0, 1, x),
    "where, other dtype": lambda lib, x, d: lib.where(x > 0, x, x.to(lib.float64)),
    "masked_fill": lambda lib, x, d: x.masked_fill(x > 0, 1),
    "masked_select": lambda lib, x, d: lib.masked_select(x, x > 0),
    "x[mask]": lambda lib, x, d: x[x > 0],
    "x[i]": lambda lib, x, d: x[indices(lib, 0, -1)],
    "x[i], too far": lambda lib, x, d: x[indices(lib, -6000)],
    "nonzero": lambda lib, x, d: lib.nonzero(x > 0),
    "clone": lambda lib, x, d: x.clone().fill_(1).zero_() + x.contiguous(),
    "like": lambda lib, x, d: lib.full_like(x, 1) + lib.ones_like(x) + x.new_zeros(x.shape),
    "converted": lambda lib, x, d: (x.to(lib.float32), x.to(lib.int64), x.to(lib.bool), x.to(lib.float64)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SELECTIONS)
def test_indexed_selection(name, dtype):
    for shape in [(7,), (1, 1), (3, 5), (5, 300), (2, 3, 4), (4, 1, 3), (3, 0), ()]:
        if "too far" in name and 0 in shape:  # PyTorch does not check indices of empty tensors
            continue
        x = next(filled(shape, dtype))
        for array in layouts(x):
            for dim in (0, -1, 1):
                results = []
                for lib in (ts, torch):
                    try:
                        results.append(SELECTIONS[name](lib, lib.from_numpy(array.copy()), dim))
                    except (RuntimeError, IndexError):
                        results.append("an error")
                agree(*results, 0)


INTERPOLATIONS = {
    "clamp": lambda lib, x: x.clamp(-0.5, 1.0),
    "clamp, crossed": lambda lib, x: x.clamp(1, 0),
    "clamp_min": lambda lib, x: lib.clamp_min(x, 1),
    "clamp_max, nan": lambda lib, x: lib.clamp_max(x, float("nan")),
    "square": lambda lib, x: x**2 + x**2.0,
    "leaky_relu": lambda lib, x: lib.nn.functional.leaky_relu(x, 0.1),
    "silu": lambda lib, x: lib.nn.functional.silu(x),
    "lerp": lambda lib, x: lib.lerp(x, x + 1, 0.25),
    "lerp, high": lambda lib, x: lib.lerp(x, x + 1, 0.75),
    "addcmul": lambda lib, x: lib.addcmul(x, x + 1, x, value=2),
    "addcmul, spread": lambda lib, x: lib.addcmul(x, x + 1, x[:1]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32"])
@pytest.mark.parametrize("name", INTERPOLATIONS)
def test_interpolation_operators(name, dtype):
    for shape in [(), (1,), (7,), (0,), (3, 5), (40, 50)]:
        for x in filled(shape, dtype):
            for array in layouts(x):
                results = []
                for lib in (ts, torch):
                    try:
                        results.append(INTERPOLATIONS[name](lib, lib.from_numpy(array)))
                    except (RuntimeError, IndexError):
                        results.append("an error")
                agree(*results, TOLERANCE.get(dtype, 0))
