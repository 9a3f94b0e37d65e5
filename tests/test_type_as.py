"""`type_as`: result strides equal those of `to`."""

import pytest

import ts


@pytest.mark.parametrize(
    ("x", "strides"),
    [
        (ts.arange(4).view(1, 4).expand(2, 4), (4, 1)),
        (ts.arange(2).view(2, 1).expand(2, 4), (4, 1)),
        (ts.arange(6).view(2, 3).t(), (1, 3)),
        (ts.arange(12).view(2, 6)[:, ::2], (3, 1)),
        (ts.arange(3), (1,)),
        (ts.tensor(3), ()),
    ],
    ids=["rows", "columns", "transposed", "sliced", "vector", "number"],
)
def test_strides(x, strides):
    """Dense tensors keep their strides; others get row-major order of their dimensions."""
    like = ts.ones(1)
    assert (
        x.type_as(like).stride() == strides == x.to(ts.float32).stride()
        and x.type_as(like).dtype is ts.float32
    )
    assert x.type_as(like).tolist() == x.tolist() and x.type_as(ts.arange(1)) is x
    assert (
        x.to("meta").type_as(ts.ones(1, device="meta")).stride() == strides
        or x.to("meta").stride() != x.stride()
    )
