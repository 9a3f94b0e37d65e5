"""Kernels with permuted arguments: values equal those of contiguous arguments, and the strides are PyTorch's."""

import itertools

import pytest

import ts
import ts.nn.functional as F

DTYPES = [ts.float32, ts.float64]


def images(n, channels, height, width, dtype=ts.float32):
    """Return a batch of channels-last images."""
    ts.manual_seed(1)
    return ts.randn(n, height, width, channels, dtype=dtype).permute(0, 3, 1, 2)


POOLS = {
    "max": lambda x: F.max_pool2d(x, 3, 2, 1),
    "max with indices": lambda x: F.max_pool2d(x, 2, return_indices=True),
    "max with ceil": lambda x: F.max_pool2d(x, 2, ceil_mode=True),
    "average": lambda x: F.avg_pool2d(x, (2, 3), 1),
    "average without padding": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "average with divisor": lambda x: F.avg_pool2d(x, 2, divisor_override=3),
    "adaptive average": lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
    "adaptive max": lambda x: F.adaptive_max_pool2d(x, (3, 1), return_indices=True),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", POOLS)
def test_pooling_of_channels_last_images(name, dtype):
    for shape in ((2, 3, 5, 7), (1, 4, 6, 6), (3, 2, 3, 4)):
        x = images(*shape, dtype=dtype)
        results, expected = POOLS[name](x), POOLS[name](x.contiguous())
        pairs = zip(results, expected, strict=True) if isinstance(results, tuple) else [(results, expected)]
        for result, other in pairs:
            assert result.dtype == other.dtype
            assert ts.equal(result, other)
            assert result.is_contiguous(memory_format=ts.channels_last)


def test_pooling_of_large_channels_last_images():
    x = images(2, 8, 80, 80)
    assert ts.equal(F.max_pool2d(x, 2), F.max_pool2d(x.contiguous(), 2))
    assert F.avg_pool2d(x, 2).is_contiguous(memory_format=ts.channels_last)


def test_gradients_of_channels_last_pooling():
    x = images(1, 2, 4, 4, dtype=ts.float64).requires_grad_()
    for name in ("max", "average", "adaptive average"):
        assert ts.autograd.gradcheck(POOLS[name], x)


@pytest.mark.parametrize("order", itertools.permutations(range(3)))
def test_extremes_and_concatenation(order):
    ts.manual_seed(2)
    x, y = ts.randn(2, 3, 4).permute(order), ts.randn(2, 3, 4).permute(order)
    for dim in range(3):
        values, indices = x.max(dim)
        expected = x.contiguous().max(dim)
        assert ts.equal(values, expected[0])
        assert ts.equal(indices, expected[1])
        assert values.is_contiguous()
        assert indices.is_contiguous()
        assert ts.equal(x.argmin(dim), x.contiguous().argmin(dim))
        joined = ts.cat([x, y.contiguous()], dim)
        assert ts.equal(joined, ts.cat([x.contiguous(), y.contiguous()], dim))
        assert joined.is_contiguous()


def test_concatenation_of_channels_last_images_is_channels_last():
    x = images(2, 3, 4, 5)
    assert ts.cat([x, x], 1).is_contiguous(memory_format=ts.channels_last)
    assert ts.cat([x, x.contiguous()], 1).is_contiguous()
    assert ts.cat([x.permute(1, 0, 2, 3), x.permute(1, 0, 2, 3)], 1).is_contiguous()


def test_sliding_windows():
    x = ts.arange(24).view(2, 3, 4)
    for view in (x, x.permute(2, 0, 1), x[..., ::2]):
        for dim in range(-3, 3):
            for size, step in ((1, 1), (2, 1), (2, 3), (0, 1), (1, 5)):
                if size > view.shape[dim]:
                    continue
                windows = view.unfold(dim, size, step)
                count = (view.shape[dim] - size) // step + 1
                assert windows.shape[dim % 3] == count
                assert windows.shape[-1] == size
                assert windows.data_ptr() == view.data_ptr()
                for i in range(count):
                    expected = view.narrow(dim, i * step, size).movedim(dim, -1)
                    assert ts.equal(windows.select(dim % 3, i), expected)
    windows = ts.zeros(5).unfold(0, 2, 1)
    windows[1] = 7
    assert windows.tolist() == [[0, 7], [7, 7], [7, 0], [0, 0]]
    assert ts.arange(3).unfold(0, 3, 5).stride() == (5, 1)
    assert ts.arange(3).unfold(0, 3, 1 << 62).shape == (1, 3)
    for arguments in ((0, 4, 1), (0, -1, 1), (0, 1, 0), (1, 1, 1)):
        with pytest.raises((RuntimeError, IndexError)):
            ts.arange(3).unfold(*arguments)
    x = ts.rand(4, dtype=ts.float64, requires_grad=True)
    assert ts.autograd.gradcheck(lambda x: x.unfold(0, 2, 1), x)
    assert ts.arange(3).to("meta").unfold(0, 2, 1).stride() == (1, 1)
