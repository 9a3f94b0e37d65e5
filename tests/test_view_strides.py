"""Strides of views with dimensions of size 1."""

import pytest

import ts


def test_new_dimensions_have_the_stride_of_unsliced_dimensions():
    x = ts.zeros(3, 4)
    assert x[0, None, ..., -1:].stride() == (4, 1)
    assert x[None, 1:].stride() == (12, 4, 1)
    assert x[..., None].stride() == (4, 1, 1)


@pytest.mark.parametrize("size", [(2, 1, 1, 1), (1, 1), (2, 3, 1, 3)])
def test_strides_of_expanded_tensors(size):
    """All strides of an expanded 0-dim tensor are zero. New dimensions of size 1 have the strides of `unsqueeze`."""
    assert ts.tensor(3.0).expand(size).stride() == (0,) * len(size)
    column = ts.ones(3, 1)
    assert column.expand(2, 1, 3, 1).stride() == (0, 3, 1, 1)
    assert ts.broadcast_tensors(column, ts.ones(2, 1, 1, 1))[0].stride() == (0, 3, 1, 1)
    assert [x.stride() for x in ts.meshgrid(ts.ones(1), ts.ones(3), indexing="ij")] == [(1, 0), (3, 1)]
