"""`vmap` over empty batches, and numbers that vary within a batch."""

import pytest

import ts

REDUCED = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "amax": lambda x: x.amax(),
    "norm": lambda x: x.norm(),
    "dist": lambda x: ts.dist(x, x * 2),
}


@pytest.mark.parametrize("name", REDUCED)
def test_reductions_of_no_batch(name):
    assert ts.func.vmap(REDUCED[name])(ts.ones(0, 3)).shape == (0,)
    assert ts.func.vmap(REDUCED[name])(ts.ones(0, 3, 2)).shape == (0,)
    x = ts.rand(2, 3)
    assert ts.allclose(ts.func.vmap(REDUCED[name])(x), ts.stack([REDUCED[name](row) for row in x]))


def test_filled_with_numbers_of_the_batch():
    x = ts.tensor([[1.0, -2, 3], [-1, 5, -6]])

    def filled(row):
        return row.masked_fill(row > 0, row.sum())

    assert ts.equal(ts.func.vmap(filled)(x), ts.stack([filled(row) for row in x]))
