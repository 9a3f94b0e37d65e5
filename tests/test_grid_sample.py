"""Grid sampling: the native kernel has the bits of the general kernel."""

import itertools
import math

import numpy as np
import pytest

import ts
from tests.divided_work import divided_work
from ts.backends.cpu.namespace import namespace
from ts.ops.grid_sample import sampled

SHAPES = {"images": (2, 3, 5, 7), "a pixel": (1, 2, 1, 1), "a row": (2, 1, 1, 6), "no channels": (2, 0, 3, 3), "none": (0, 2, 3, 3)}


def grid_for(n, dtype, seed=0):
    grid = np.random.default_rng(seed).uniform(-2.5, 2.5, (n, 6, 4, 2)).astype(dtype)
    if n:
        grid[0, :3, 0, 0] = [1, -1, 0]
        grid[0, 3, 0], grid[0, 4, 0] = math.nan, (math.inf, -math.inf)
    return grid


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SHAPES)
def test_results_equal_the_general_kernel(name, dtype):
    x = np.random.default_rng(1).standard_normal(SHAPES[name]).astype(dtype)
    grid = grid_for(len(x), dtype)
    for mode, padding, align in itertools.product((0, 1), (0, 1, 2), (False, True)):
        expected = sampled(namespace, x, grid, mode, padding, align)
        actual = ts.grid_sampler(ts.from_numpy(x), ts.from_numpy(grid), mode, padding, align)
        assert np.array_equal(actual.numpy(), expected, equal_nan=True), (mode, padding, align)


def test_non_contiguous_grids_and_images():
    x, grid = ts.randn(2, 5, 7, 3).permute(0, 3, 1, 2), ts.rand(2, 2, 6, 4).permute(0, 2, 3, 1)
    expected = ts.grid_sampler(x.contiguous(), grid.contiguous(), 0, 0, False)
    assert ts.equal(ts.grid_sampler(x, grid, 0, 0, False), expected)


def test_large_grids_are_partitioned():
    x, grid = ts.randn(1, 40, 30, 30), ts.rand(1, 40, 40, 2) * 2 - 1
    single_thread = ts.grid_sampler(x, grid, 0, 0, False)
    with divided_work(threads=2, min_work=1 << 10):
        assert ts.equal(ts.grid_sampler(x, grid, 0, 0, False), single_thread)


@pytest.mark.parametrize("x, grid", [((1, 2, 3, 3), (2, 4, 4, 2)), ((1, 2, 3, 3), (1, 4, 4, 3)), ((1, 2, 0, 3), (1, 4, 4, 2))])
def test_invalid_shapes_are_rejected(x, grid):
    with pytest.raises(RuntimeError, match="grid_sampler"):
        ts.grid_sampler(ts.zeros(x), ts.zeros(grid), 0, 0, False)
