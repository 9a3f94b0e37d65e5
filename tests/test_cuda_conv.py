"""Convolutions on CUDA devices, in chunks of images, with 16-bit windows for 16-bit inputs.

The tests run on a GPU if available (`make test-cuda`), otherwise on the fake CuPy in `tests/fake_cupy`.
"""

import numpy as np
import pytest

import ts
from ts.nn import functional

pytestmark = pytest.mark.cuda
TOLERANCE = {ts.float64: 1e-11, ts.float32: 1e-4, ts.float16: 1e-2, ts.bfloat16: 8e-2}


@pytest.fixture(params=[1 << 27, 300, 1], ids=lambda n: f"{n} elements")
def max_elements(cuda, request, monkeypatch):
    """Limit the windows of a chunk: all images, some images, one image."""
    from ts.ops import conv_chunks

    monkeypatch.setattr(conv_chunks, "MAX_WINDOW_ELEMENTS", request.param)


def values(shape, dtype, seed):
    return ts.tensor(np.random.default_rng(seed).standard_normal(shape)).to(dtype)


def compare(function, input, weight, bias, dtype, **options):
    """Compare the result and the gradients with those on the CPU."""
    results = []
    for device in ("cpu", "cuda"):
        args = [values(shape, dtype, k).to(device).requires_grad_() for k, shape in enumerate((input, weight, bias))]
        result = function(*args, **options)
        assert result.device.type == device and result.dtype is dtype
        result.square().sum().backward()
        results.append([result.detach(), *(x.grad for x in args)])
    for expected, got in zip(*results, strict=True):
        assert got.is_cuda and got.shape == expected.shape and got.dtype is expected.dtype
        a, b = (x.cpu().double().numpy() for x in (expected, got))
        assert np.abs(a - b).max() <= TOLERANCE[dtype] * max(1, np.abs(a).max())


CONVOLUTIONS = [
    (functional.conv1d, (3, 4, 9), (6, 4, 3), {"stride": 2, "padding": 1}),
    (functional.conv2d, (3, 4, 7, 6), (5, 4, 3, 2), {"padding": (1, 0), "dilation": (2, 1)}),
    (functional.conv2d, (3, 4, 5, 5), (6, 4, 1, 1), {}),
    (functional.conv2d, (3, 4, 6, 6), (8, 1, 3, 3), {"groups": 4, "padding": 1}),
    (functional.conv2d, (4, 6, 6), (2, 4, 3, 3), {"stride": (2, 3)}),
    (functional.conv2d, (2, 4, 6, 6), (2, 4, 3, 3), {"padding": "same"}),
    (functional.conv3d, (2, 2, 4, 4, 4), (3, 2, 2, 2, 2), {"stride": 2}),
    (functional.conv_transpose1d, (3, 4, 5), (4, 3, 3), {"stride": 2, "output_padding": 1}),
    (functional.conv_transpose2d, (3, 4, 4, 3), (4, 2, 3, 3), {"groups": 2, "padding": 1, "stride": 2}),
    (functional.conv_transpose3d, (2, 2, 2, 2, 2), (2, 3, 2, 2, 2), {}),
]


@pytest.mark.parametrize("function, input, weight, options", CONVOLUTIONS, ids=lambda x: getattr(x, "__name__", None))
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_convolutions(max_elements, function, input, weight, options, dtype):
    """Results and gradients equal those on the CPU, for each size of chunks."""
    transposed = "transpose" in function.__name__
    filters = weight[1] * options.get("groups", 1) if transposed else weight[0]
    compare(function, input, weight, (filters,), dtype, **options)


def test_empty_batches(cuda):
    """A batch without images has an empty result, and a gradient of zeros for the weight."""
    w = ts.ones(2, 3, 2, 2, device="cuda", requires_grad=True)
    result = functional.conv2d(ts.ones(0, 3, 4, 4, device="cuda"), w)
    result.sum().backward()
    assert result.shape == (0, 2, 3, 3) and w.grad.abs().sum().item() == 0


def test_memory_of_windows(cuda, monkeypatch):
    """The peak memory does not grow with the number of images whose windows are stored."""
    from ts.ops import conv_chunks

    monkeypatch.setattr(conv_chunks, "MAX_WINDOW_ELEMENTS", 1 << 15)
    x, w = ts.randn(64, 8, 16, 16, device="cuda"), ts.randn(8, 8, 5, 5, device="cuda")
    functional.conv2d(x, w, padding=2)
    before = ts.cuda.memory_allocated()
    ts.cuda.reset_peak_memory_stats()
    functional.conv2d(x, w, padding=2)
    assert ts.cuda.max_memory_allocated() - before < 2 << 20  # all windows: 13 MiB


def test_convolutions_in_graphs(cuda):
    """A captured convolution reads the input of each replay."""
    x, w = values((2, 3, 5, 5), ts.float16, 0).cuda(), values((4, 3, 3, 3), ts.float16, 1).cuda()
    functional.conv2d(x, w)
    graph = ts.cuda.CUDAGraph()
    with ts.cuda.graph(graph):
        result = functional.conv2d(x, w)
    x.mul_(-1)
    graph.replay()
    assert result.cpu().allclose(functional.conv2d(x.cpu(), w.cpu()), rtol=1e-2, atol=1e-2)
