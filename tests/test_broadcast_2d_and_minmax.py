"""Operands that broadcast over two dimensions, and minima and maxima of columns: C kernels equal NumPy."""

import numpy as np
import pytest

import ts

SHAPES = [
    ((32, 1), (32, 32)), ((7, 9), (9,)), ((5, 40), (5, 1)), ((1, 33), (6, 1)), ((3, 4, 5), (4, 1)), ((4, 1, 16), (1, 7, 16)),
]  # fmt: skip
ARITHMETIC = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide}


def numbers(shape, dtype, seed):
    generator = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.floating):
        return generator.standard_normal(shape).astype(dtype)
    return generator.integers(0, 2 if dtype == "bool" else 9, shape).astype(dtype)


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_arithmetic_with_broadcasting(name, dtype, shapes):
    a, b = (numbers(shape, dtype, seed) for seed, shape in enumerate(shapes))
    for x, y in ((a, b), (b, a), (a[..., ::-1], b), (np.asfortranarray(a), b)):
        with np.errstate(all="ignore"):
            expected = ARITHMETIC[name](x, y)
        actual = getattr(ts, name)(ts.from_numpy(x.copy("K")), ts.from_numpy(y.copy("K")))
        assert np.array_equal(actual.numpy(), expected)
    broadcast = np.ascontiguousarray(np.broadcast_to(a, np.broadcast_shapes(*shapes)))
    target = ts.from_numpy(broadcast.copy())
    getattr(target, name + "_")(ts.from_numpy(b))
    assert np.array_equal(target.numpy(), ARITHMETIC[name](broadcast, b))


def expected_extreme(x, largest, dim):
    """Return the extreme values and indices along a dimension; the first NaN takes precedence."""
    precedes = (lambda v, best: v > best) if largest else (lambda v, best: v < best)
    columns = np.moveaxis(x, dim, 0).reshape(x.shape[dim], -1)
    indices = np.zeros(columns.shape[1], dtype=np.int64)
    for j, column in enumerate(columns.T):
        for i, value in enumerate(column):
            best = column[indices[j]]
            if best == best and (value != value or precedes(value, best)):
                indices[j] = i
    return indices.reshape(np.moveaxis(x, dim, 0).shape[1:])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool"])
@pytest.mark.parametrize("shape", [(1, 5), (4, 1), (6, 31), (33, 32), (17, 70), (3, 5, 40), (2, 3, 4, 35)])
@pytest.mark.parametrize("largest", [True, False])
def test_extremes_of_columns(dtype, shape, largest):
    x = numbers(shape, dtype, 2)
    if x.dtype.kind == "f":
        x = np.round(x * 2)  # creates equal elements, including zeros of both signs
        x.flat[:: 7 if x.size > 7 else 2] = np.nan
        x.flat[3::11] = np.inf
        x.flat[4::13] = -np.inf
    t = ts.from_numpy(x)
    for dim in range(x.ndim):
        expected = expected_extreme(x, largest, dim)
        values, indices = t.max(dim) if largest else t.min(dim)
        assert np.array_equal(indices.numpy(), expected)
        extremes = np.take_along_axis(x, np.expand_dims(expected, dim), dim).squeeze(dim)
        assert values.numpy().tobytes() == extremes.tobytes()
        if dtype != "bool":
            arg_indices = t.argmax(dim) if largest else t.argmin(dim)
            assert np.array_equal(arg_indices.numpy(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "bool"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "maximum", "lt", "exp", "neg", "logical_not", "sigmoid"])
def test_out_arguments(name, dtype):
    """`out=` has the bits of the call without it, for every layout and overlap of the output."""
    f = getattr(ts, name)
    unary = name in ("exp", "neg", "logical_not", "sigmoid")
    base = ts.from_numpy(numbers(60, dtype, 3))
    for a, b in ((base[:20], base[40:]), (base[:20], 3), (base.view(6, 10)[:, :4], base[:4]), (base[:0], base[:0])):
        arguments = (a,) if unary else (a, b)
        try:
            expected = f(*arguments)
        except (RuntimeError, TypeError):
            with pytest.raises((RuntimeError, TypeError)):
                f(*arguments, out=ts.empty(0, dtype=base.dtype))
            continue
        outputs = [ts.empty(0, dtype=expected.dtype), ts.zeros(expected.shape, dtype=expected.dtype)]
        outputs.append(ts.zeros(*expected.shape, 2, dtype=expected.dtype)[..., 0])
        for output in outputs:
            if output.numel() not in (0, expected.numel()):
                continue
            before = output._version
            assert f(*arguments, out=output) is output
            assert output._version > before
            assert output.numpy().tobytes() == expected.numpy().tobytes()
        if expected.dtype == a.dtype and a.is_contiguous():
            given = a.clone()
            f(*((given,) if unary else (given, b)), out=given)
            assert given.numpy().tobytes() == expected.numpy().tobytes()


def test_overlapping_output_is_rejected():
    x = ts.arange(10.0)
    with pytest.raises(RuntimeError, match="single memory location"):
        ts.add(x[:9], 1.0, out=x[1:])
    with pytest.raises(RuntimeError, match="single memory location"):
        ts.add(x[:3], x[:3], out=ts.zeros(1).expand(3))
