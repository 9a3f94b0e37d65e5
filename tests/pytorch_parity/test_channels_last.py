"""Results of channels-last tensors have PyTorch's strides: convolutions, pooling, resampling, padding etc."""

import numpy as np
import pytest

import ts

torch = pytest.importorskip("torch")

SHAPES = [(2, 3, 6, 8), (1, 3, 4, 4), (2, 1, 4, 4), (2, 3, 4, 6, 6)]
FUNCTIONS = {
    "max_pool2d": lambda t, f, x: f.max_pool2d(x, 2),
    "its indices": lambda t, f, x: f.max_pool2d(x, 2, return_indices=True)[1],
    "avg_pool2d": lambda t, f, x: f.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda t, f, x: f.adaptive_avg_pool2d(x, 2),
    "adaptive_max_pool2d": lambda t, f, x: f.adaptive_max_pool2d(x, 3),
    "conv2d": lambda t, f, x: f.conv2d(x, t.ones(4, x.shape[1], 2, 2)),
    "weight": lambda t, f, x: f.conv2d(
        x.contiguous(), t.ones(4, x.shape[1], 2, 2).contiguous(memory_format=t.channels_last)
    ),
    "conv_transpose2d": lambda t, f, x: f.conv_transpose2d(x, t.ones(x.shape[1], 4, 2, 2)),
    "conv3d": lambda t, f, x: f.conv3d(x, t.ones(4, x.shape[1], 2, 2, 2)),
    "max_pool3d": lambda t, f, x: f.max_pool3d(x, 2),
    "avg_pool3d": lambda t, f, x: f.avg_pool3d(x, 2),
    "adaptive_avg_pool3d": lambda t, f, x: f.adaptive_avg_pool3d(x, 2),
    "nearest": lambda t, f, x: f.interpolate(x, scale_factor=2),
    "bilinear": lambda t, f, x: f.interpolate(x, scale_factor=2, mode="bilinear"),
    "trilinear": lambda t, f, x: f.interpolate(x, scale_factor=2, mode="trilinear"),
    "pad": lambda t, f, x: f.pad(x, (1, 1)),
    "reflected": lambda t, f, x: f.pad(x, (1, 1, 1, 1), mode="reflect"),
    "group_norm": lambda t, f, x: f.group_norm(x, 1),
    "flip": lambda t, f, x: x.flip(2),
    "pixel_unshuffle": lambda t, f, x: f.pixel_unshuffle(x, 2),
    "dropout": lambda t, f, x: f.dropout(x.clone(), 0.5, training=False),
}


def computed(lib, shape, name, layout):
    x = lib.from_numpy(np.random.default_rng(0).random(shape, dtype=np.float32))
    if layout != "plain":
        x = x.contiguous(memory_format=lib.channels_last if len(shape) == 4 else lib.channels_last_3d)
    return FUNCTIONS[name](lib, lib.nn.functional, x[:, :, :, 2:] if layout == "with gaps" else x)


@pytest.mark.parametrize("layout", ["channels last", "with gaps", "plain"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_memory_formats(name, layout):
    compared = 0
    for shape in SHAPES:
        try:
            expected = computed(torch, shape, name, layout)
        except (RuntimeError, NotImplementedError, ValueError):
            continue
        found = computed(ts, shape, name, layout)
        assert tuple(found.stride()) == tuple(expected.stride()), shape
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-5)
        compared += 1
    assert compared
