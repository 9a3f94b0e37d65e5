"""Strides of results: layout rules, and operators that follow them."""

import numpy as np
import pytest

import ts
from ts.ops import result_strides


@pytest.mark.parametrize(
    "rule, shape, given, order",
    [
        ("contiguous", (2, 3), [np.ones((3, 2)).T], (0, 1)),
        ("columns", (2, 3, 4), [np.ones((2, 3, 4))], (0, 2, 1)),
        ("outermost_last", (6, 2), [np.ones((2, 3))], (1, 0)),
        ("like_first", (2, 3), [np.ones((3, 2)).T], (1, 0)),
        ("like_first", (2, 4), [np.ones((3, 2)).T], (0, 1)),
        ("like_first", (2, 3), [np.broadcast_to(np.ones(3), (2, 3))], (0, 1)),
        ("like_all", (2, 3), [np.ones((3, 2)).T, np.ones((2, 3))], (1, 0)),
        ("like_all", (2, 3), [np.ones(3), np.ones((3, 2)).T], (1, 0)),
        ("channels", (2, 8, 2, 2), [np.ones((2, 4, 4, 3)).transpose(0, 3, 1, 2)], (0, 2, 3, 1)),
        ("channels", (2, 8, 2, 2), [np.ones((2, 3, 4, 4))], (0, 1, 2, 3)),
        ("channels", (2, 8, 2), [np.ones((2, 4, 3)).transpose(0, 2, 1)], (0, 1, 2)),
        ("channels_1d", (2, 8, 2), [np.ones((2, 4, 3)).transpose(0, 2, 1)], (0, 2, 1)),
        ("all_channels", (2, 6, 4, 4), [np.ones((2, 4, 4, 3)).transpose(0, 3, 1, 2), np.ones((2, 3, 4, 4))], (0, 1, 2, 3)),
        ("any_channels", (2, 6, 4, 4), [np.ones((2, 3, 4, 4)), np.ones((6, 1, 1, 3)).transpose(0, 3, 1, 2)], (0, 2, 3, 1)),
    ],
)  # fmt: skip
def test_rules(rule, shape, given, order):
    """A layout rule returns the dimensions from outermost to innermost."""
    assert result_strides.RULES[rule](shape, given) == order


def test_arrays_are_copied_only_for_other_strides():
    """`with_result_strides` copies arrays only if their strides differ from the result's."""
    x = np.arange(6.0).reshape(2, 3)
    assert result_strides.with_result_strides(np, "contiguous", x, []) is x
    y = result_strides.with_result_strides(np, "columns", x, [])
    assert y.strides == (8, 16) and np.array_equal(x, y)
    one = np.ones((1, 3)).T
    assert result_strides.with_result_strides(np, "columns", one, []) is one


def test_contiguous_shortcut_agrees_with_the_rules():
    """The contiguity shortcut skips only arrays that the rules would not copy."""
    arrays = [np.ones((2, 3)), np.ones((3, 2)).T, np.ones((2, 1)), np.ones((2, 3, 1, 1)).transpose(0, 3, 2, 1), np.ones(())]
    for x in arrays:
        for given in ([y] for y in arrays if y.shape == x.shape):
            for rule in ("contiguous", "like_first", "like_all"):
                order = result_strides.RULES[rule](x.shape, given)
                if result_strides._is_contiguous_as_required(rule, x, given):
                    assert [d for d in order if x.shape[d] != 1] == [d for d in range(x.ndim) if x.shape[d] != 1]


def test_results():
    """Results have PyTorch's strides: rows for flattened results, columns for LAPACK matrices, channels-last
    for images."""
    x = ts.arange(12.0).view(3, 4)
    assert x.t().cumsum(0).view(-1).tolist()[:4] == [0, 4, 8, 1]
    assert ts.stack([ts.ones(2), ts.zeros(2)], -1).view(-1).tolist() == [1, 0, 1, 0]
    assert ts.linalg.inv(ts.eye(3)).stride() == (1, 3)
    image = ts.ones(1, 2, 4, 4).contiguous(memory_format=ts.channels_last)
    assert ts.nn.functional.max_pool2d(image, 2).is_contiguous(memory_format=ts.channels_last)
    assert ts.nn.functional.conv2d(image, ts.ones(3, 2, 1, 1)).stride() == (48, 1, 12, 3)
    assert (x.t() + ts.ones(4, 3)).stride() == (1, 4)


def test_strides_of_empty_expanded_views():
    """Dimensions expanded from size 1 have stride 0, on the CPU and on the meta device. New tensors are row-major."""
    for device in ("cpu", "meta"):
        assert ts.ones(1, device=device).expand(0, 12, 0).stride() == (0, 0, 0)
        assert ts.ones(3, 4, device=device)[1:2, 1:2].expand(2, 0).stride() == (0, 0)
        assert ts.zeros(0, 12, 3, device=device).stride() == (36, 3, 1)
        assert ts.linalg.inv(ts.zeros(0, 2, 2, device=device)).stride() == (4, 1, 2)


def test_meshgrid_strides():
    """Each vector has its own stride along its dimension, and stride 0 along the others."""
    vectors = [ts.arange(3), ts.arange(8)[1::2], ts.arange(2)]
    for indexing, dims in (("ij", (0, 1, 2)), ("xy", (1, 0, 2))):
        shape = tuple(vectors[k].numel() for k in dims)
        for vector, dim, grid in zip(vectors, dims, ts.meshgrid(*vectors, indexing=indexing), strict=True):
            assert grid.shape == shape and grid._is_view() and grid.data_ptr() == vector.data_ptr()
            assert grid.stride() == tuple(vector.stride(0) if d == dim else 0 for d in range(3))
            assert ts.equal(grid.movedim(dim, 0)[:, 0, 1], vector)
    with pytest.raises(RuntimeError, match="indexing must be one of"):
        ts.meshgrid(ts.arange(2), ts.arange(3), indexing="yx")


def test_meshgrid_gives_views():
    """`meshgrid` returns views."""
    a, b = ts.meshgrid(ts.arange(2), ts.arange(3), indexing="ij")
    assert a.stride() == (1, 0) and b.stride() == (0, 1) and b.tolist() == [[0, 1, 2]] * 2
