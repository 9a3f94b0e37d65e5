"""bfloat16 convolutions, compared with float64: strides, padding, dilation, groups, transposed, layouts, threads."""

import pytest

import ts
from tests.bfloat16_helpers import algorithm as algorithm
from tests.bfloat16_helpers import randn

f = ts.nn.functional


def assert_rounded(function, x, weight, bias=None, **arguments):
    """Check a convolution: float32 rounding errors of its sums, and one bfloat16 rounding."""
    result = function(x, weight, bias, **arguments)
    doubles = [None if t is None else t.double() for t in (x, weight, bias)]
    expected = function(*doubles, **arguments)
    magnitude = function(*(None if t is None else t.abs() for t in doubles), **arguments)
    terms = weight.numel()
    bound = expected.abs() * 2.0**-8 + magnitude * (terms + 2) * 2.0**-23 + terms * 2.0**-126
    assert result.dtype == ts.bfloat16
    assert result.shape == expected.shape
    assert (
        result.stride()
        == function(x.float(), weight.float(), None if bias is None else bias.float(), **arguments).stride()
    )
    assert bool(((result.double() - expected).abs() <= bound).all())


# shapes of input and weight, arguments
CONV2D = [
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    ((2, 3, 9, 11), (5, 3, 3, 3), {"padding": 1}),
    ((2, 4, 9, 70), (7, 4, 3, 2), {"stride": (1, 2), "padding": (2, 0)}),
    ((1, 3, 33, 33), (16, 3, 7, 7), {"stride": 2, "padding": 3}),
    ((3, 5, 7, 7), (20, 5, 3, 3), {"padding": 1}),
    ((2, 6, 12, 12), (9, 6, 3, 3), {"dilation": 3, "padding": 2}),
    ((2, 32, 8, 8), (16, 16, 3, 3), {"groups": 2, "padding": 1}),
    ((2, 6, 8, 8), (6, 1, 3, 3), {"groups": 6, "padding": 1}),
    ((2, 13, 10, 10), (70, 13, 1, 1), {}),
    ((2, 13, 10, 10), (17, 13, 1, 1), {"stride": 3}),
    ((4, 5, 3, 3), (6, 5, 3, 3), {}),
    ((1, 2, 2, 2), (3, 2, 5, 5), {"padding": 4}),
]


@pytest.mark.parametrize("case", CONV2D, ids=str)
def test_conv2d(algorithm, case):
    ts.manual_seed(0)
    shape, window, arguments = case
    x, weight, bias = randn(*shape), randn(*window), randn(window[0])
    assert_rounded(f.conv2d, x, weight, **arguments)
    assert_rounded(f.conv2d, x, weight, bias, **arguments)
    last = ts.channels_last
    assert_rounded(
        f.conv2d, x.contiguous(memory_format=last), weight.contiguous(memory_format=last), bias, **arguments
    )
    strided = ts.cat([x, x], 3)[..., ::2], ts.cat([weight, weight], 0)[::2], ts.cat([bias, bias])[::2]
    assert_rounded(f.conv2d, *strided, **arguments)


def test_other_dimensions(algorithm):
    ts.manual_seed(1)
    assert_rounded(f.conv1d, randn(2, 5, 100), randn(9, 5, 4), randn(9), padding=2, stride=3)
    assert_rounded(f.conv3d, randn(2, 3, 5, 6, 7), randn(8, 3, 2, 3, 3), randn(8), padding=1)
    assert_rounded(f.conv2d, randn(3, 8, 9), randn(12, 3, 3, 3))


def test_transposed_convolutions(algorithm):
    ts.manual_seed(2)
    for arguments in (
        {},
        {"stride": 2, "padding": 1},
        {"stride": 3, "output_padding": 1, "dilation": 2},
        {"stride": 4},
    ):
        assert_rounded(f.conv_transpose2d, randn(2, 5, 6, 7), randn(5, 9, 3, 3), randn(9), **arguments)
    assert_rounded(f.conv_transpose2d, randn(2, 6, 5, 5), randn(6, 8, 3, 3), randn(16), groups=2, stride=2)


def test_special_values_and_empty_batches(algorithm):
    x = ts.ones(1, 1, 4, 20, dtype=ts.bfloat16)
    x[0, 0, 1, 7] = float("inf")
    result = f.conv2d(x, ts.ones(2, 1, 3, 3, dtype=ts.bfloat16), padding=1)
    assert result.isinf().sum().item() == 2 * 9
    assert not result.isnan().any()
    assert f.conv2d(x[:0], ts.ones(2, 1, 3, 3, dtype=ts.bfloat16)).shape == (0, 2, 2, 18)


def test_bits_do_not_depend_on_threads(algorithm):
    ts.manual_seed(3)
    threads = ts.get_num_threads()
    operands = [(randn(2, 32, 30, 30), randn(33, 32, 3, 3)), (randn(1, 256, 7, 7), randn(300, 256, 3, 3))]
    try:
        for x, weight in operands:
            results = []
            for count in (1, 2, 3, 4):
                ts.set_num_threads(count)
                results.append(f.conv2d(x, weight, padding=1))
            assert all(ts.equal(result, results[0]) for result in results)
    finally:
        ts.set_num_threads(threads)
