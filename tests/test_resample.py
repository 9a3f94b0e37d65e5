"""Resampling kernels equal the general kernels without out-of-bounds reads."""

import numpy as np
import pytest

import ts
from ts.backends.cpu.kernels.resample import weighted_bytes, weighted_picks, weighted_sums
from ts.backends.cpu.namespace import namespace
from ts.backends.array_namespace import WrappedNamespace

PLAIN = WrappedNamespace(np)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_sums_equal_the_general_kernel(dtype, axis):
    random = np.random.default_rng(axis)
    x = (random.standard_normal((3, 4, 5)) * 9).astype(dtype)
    indices = random.integers(0, x.shape[axis], (6, 3))
    weights = (random.standard_normal((6, 3)) * 9).astype(dtype)
    for input in (x, x.transpose(2, 0, 1).copy().transpose(1, 2, 0)):
        result = namespace.weighted_sums(input, axis, indices, weights)
        np.testing.assert_array_equal(result, PLAIN.weighted_sums(x, axis, indices, weights))


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 6, 7, 3), (2, 0, 3, 3)])
def test_bytes_are_summed_in_integers_and_rounded(shape, axis):
    random = np.random.default_rng(axis)
    x = random.integers(0, 256, shape).astype(np.uint8)
    indices = random.integers(0, max(shape[axis], 1), (6 if shape[axis] else 0, 3))
    weights = random.integers(-9000, 20000, indices.shape).astype(np.int32)
    for input in (x, x.transpose(0, 2, 3, 1).copy().transpose(0, 3, 1, 2)):
        result = namespace.weighted_bytes(input, axis, indices, weights, 14)
        assert result.dtype == np.uint8
        np.testing.assert_array_equal(result, PLAIN.weighted_bytes(x, axis, indices, weights, 14))
    kernel_arguments = (x, x.copy(), axis, np.zeros((shape[axis], 1), np.int64), np.zeros((shape[axis], 1), np.int32))
    for wrong in ((x.astype(np.int32), *kernel_arguments[1:], 3), (*kernel_arguments, 23), (*kernel_arguments, -1)):
        with pytest.raises(TypeError):
            weighted_bytes(*wrong)
    with pytest.raises(TypeError):
        weighted_sums(*kernel_arguments)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_picks_equal_the_general_kernel(dtype):
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 3, 7)).astype(dtype)
    indices = random.integers(-1, 7, (2, 5, 4))
    weights = random.standard_normal((2, 5, 4)).astype(dtype)
    result = namespace.weighted_picks(x, indices, weights)
    np.testing.assert_array_equal(result, PLAIN.weighted_picks(x, indices, weights))


def test_samples_outside_of_the_input_are_zero():
    """Samples outside of the input are zero even if the first pixel is infinite."""
    image = ts.full((1, 1, 2, 2), float("inf"))
    positions = ts.full((1, 1, 1, 2), 9.0)
    assert ts.nn.functional.grid_sample(image, positions, align_corners=False).item() == 0


def arrays(places=(0, 1), shape=(2, 3), out=(2, 2), dtype=np.float32, taps=1):
    index = np.array(places, np.int64).reshape(-1, taps)
    return np.zeros(shape, dtype), np.zeros(out, dtype), 1, index, np.zeros(index.shape, dtype)


@pytest.mark.parametrize(
    "change",
    [
        {"places": (0, 3)},
        {"places": (-1, 0)},
        {"out": (2, 3)},
        {"dtype": np.float16},
        {"dtype": np.complex64},
        {"shape": (2, 0)},
        {"shape": (3,), "out": (2,)},
    ],
)
def test_sums_check_bounds(change):
    weighted_sums(*arrays())
    with pytest.raises((IndexError, TypeError, ValueError)):
        weighted_sums(*arrays(**change))


def test_sums_require_contiguous_arrays():
    x, out, axis, index, weight = arrays()
    for wrong in ((x.T.copy().T, out), (x, out[:, ::-1]), (x.tolist(), out)):
        with pytest.raises((TypeError, ValueError)):
            weighted_sums(*wrong, axis, index, weight)
    with pytest.raises(ValueError, match="weight"):
        weighted_sums(x, out, axis, index, weight[:1])


def test_picks_check_bounds():
    x, out = np.zeros((2, 3, 7)), np.zeros((2, 3, 5))
    index, weight = np.zeros((2, 5, 4), np.int64), np.zeros((2, 5, 4))
    weighted_picks(x, out, index, weight)
    for wrong in ((x, out[:, :2].copy(), index, weight), (x[:1].copy(), out, index, weight), (x[0], out[0], index[0], weight[0])):
        with pytest.raises((TypeError, ValueError)):
            weighted_picks(*wrong)
    for invalid_index in (7, -2):
        index[1, 4, 3] = invalid_index
        with pytest.raises(IndexError):
            weighted_picks(x, out, index, weight)
