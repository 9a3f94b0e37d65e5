"""Reductions of empty tensors, and searches in empty boundaries: PyTorch's results or messages."""

import pytest

import ts

NUMBERS = [ts.float32, ts.float64, ts.float16, ts.bfloat16, ts.int64, ts.int32, ts.uint8]
DTYPES = [*NUMBERS, ts.bool, ts.complex64]
UNSPECIFIED = (
    "{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
    "argument."
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 3)])
def test_extremes_of_all_elements(shape, dtype):
    """Without a dimension, an extreme of zero elements has no value."""
    x = ts.empty(shape, dtype=dtype)
    for call, kind, message in (
        (lambda: ts.max(x), RuntimeError, UNSPECIFIED.format("max")),
        (lambda: ts.amin(x), RuntimeError, UNSPECIFIED.format("amin")),
        (lambda: ts.aminmax(x), RuntimeError,
         "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."),
    ):  # fmt: skip
        with pytest.raises(kind) as caught:
            call()
        assert type(caught.value) is kind and str(caught.value) == message
    if dtype not in (ts.bool, ts.complex64):
        with pytest.raises(IndexError) as caught:
            ts.argmax(x)
        assert str(caught.value) == "argmax(): Expected reduction dim to be specified for input.numel() == 0."


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, dim, axis", [((0,), 0, 0), ((0,), -1, 0), ((0, 3), -2, 0), ((3, 0), 1, 1)])
def test_extremes_along_an_empty_dimension(shape, dim, axis, dtype):
    """The message is raised before unsupported dtypes are reported. Only amax and amin state the dim as passed."""
    x = ts.empty(shape, dtype=dtype)
    calls = {
        "max(): Expected": lambda: ts.max(x, dim),
        "aminmax: Expected": lambda: ts.aminmax(x, dim=dim),
        "median(): Expected": lambda: ts.median(x, dim),
        "mode(): Expected": lambda: ts.mode(x, dim),
        "kthvalue(): Expected": lambda: ts.kthvalue(x, 1, dim),
        "amax(): Expected": lambda: ts.amax(x, dim),
    }
    for start, call in calls.items():
        with pytest.raises(IndexError) as caught:
            call()
        stated = dim if start.startswith("amax()") else axis
        assert str(caught.value) == f"{start} reduction dim {stated} to have non-zero size."


@pytest.mark.parametrize("dtype", NUMBERS)
def test_results_without_elements(dtype):
    """A reduction over another dimension than the empty one returns an empty tensor."""
    x = ts.empty((0, 3), dtype=dtype)
    for result in (*ts.max(x, 1), *ts.median(x, 1), *ts.mode(x, 1), *ts.kthvalue(x, 1, 1), ts.amax(x, 1), ts.argmin(x, 1)):
        assert result.shape == (0,)
    assert ts.amax(ts.empty((0, 3), dtype=ts.complex64), 1).shape == (0,)
    assert ts.logsumexp(x.float(), 0).tolist() == [-float("inf")] * 3
    if dtype.is_floating_point:
        assert ts.std(x, 0).isnan().all() and ts.median(ts.empty(0, dtype=dtype)).isnan()


def test_median_of_no_integers():
    """The median is NaN, converted to the dtype."""
    expected = {ts.int64: -(2**63), ts.int32: -(2**31), ts.uint8: 0, ts.int16: 0, ts.bool: True}
    for dtype, value in expected.items():
        for median in (ts.median, ts.nanmedian):
            result = median(ts.empty(0, dtype=dtype))
            assert result.item() == value and result.dtype == dtype


def test_moments_of_integers():
    x = ts.empty(0, dtype=ts.int64)
    for name, start in (("std", "std and var"), ("var", "std and var"), ("std_mean", "std_mean"), ("var_mean", "var_mean")):
        with pytest.raises(RuntimeError) as caught:
            getattr(ts, name)(x)
        assert str(caught.value) == f"{start} only support floating point and complex dtypes"


@pytest.mark.parametrize("dtype", [ts.float32, ts.int64, ts.float16])
@pytest.mark.parametrize("boundaries, values", [((0,), (3,)), ((3,), (0,)), ((2, 0), (2, 3)), ((2, 3), (2, 0)), ((0, 3), (0, 2)), ((0,), ())])
def test_search_in_empty_boundaries(boundaries, values, dtype):
    """Each value is inserted at index 0 of empty boundaries."""
    rows, x = ts.zeros(boundaries, dtype=dtype), ts.ones(values, dtype=dtype)
    for options in ({}, {"right": True}, {"out_int32": True}):
        result = ts.searchsorted(rows, x, **options)
        assert result.shape == values and result.dtype == (ts.int32 if "out_int32" in options else ts.int64)
        assert not result.any()
    if len(boundaries) == 1:
        assert ts.equal(ts.bucketize(x, rows), ts.searchsorted(rows, x))


def test_search_in_boundaries_without_dimensions():
    with pytest.raises(RuntimeError) as caught:
        ts.searchsorted(ts.tensor(1.0), ts.ones(3))
    message = "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
    assert str(caught.value) == message


def test_isin_promotes_dtypes():
    assert ts.isin(ts.tensor([1.0, 2.0], dtype=ts.bfloat16), ts.tensor([2])).tolist() == [False, True]


def test_views_of_empty_tensors_have_strides():
    """NumPy sets the strides of new empty arrays to zero. Tensors have row-major strides."""
    x = ts.zeros(0, 2, 3)
    assert x.detach().stride() == (6, 3, 1) and ts.max(ts.zeros(0, 2), 1)[0].stride() == (1,)
