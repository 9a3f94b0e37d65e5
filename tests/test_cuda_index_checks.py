"""Operators with indices on CUDA devices: range checks on the device, and no synchronization with the host.

The tests run on a GPU if available (`make test-cuda`), otherwise on the fake CuPy in `tests/fake_cupy`.
"""

import subprocess
import sys

import pytest

import ts
from tests import nvrtc
from ts.nn import functional

pytestmark = pytest.mark.cuda
TARGETS, COLUMNS = [1, 0, 3], [[1, 2], [0, 0], [4, 4]]
# name -> function of a float32 tensor (3, 5) and a tensor of indices
OPERATORS = {
    "embedding": (lambda x, i: functional.embedding(i, x), [[0, 2], [2, 1]]),
    "embedding with padding": (lambda x, i: functional.embedding(i, x, padding_idx=2), [[0, 2], [2, 1]]),
    "embedding by frequency": (lambda x, i: functional.embedding(i, x, scale_grad_by_freq=True), [[0, 2], [2, 1]]),
    "cross_entropy": (functional.cross_entropy, TARGETS),
    "cross_entropy with ignored targets": (lambda x, i: functional.cross_entropy(x, i, ignore_index=0), TARGETS),
    "cross_entropy with weights": (lambda x, i: functional.cross_entropy(x, i, ts.ones(5, device=x.device)), TARGETS),
    "cross_entropy with smoothing": (lambda x, i: functional.cross_entropy(x, i, label_smoothing=0.1), TARGETS),
    "nll_loss": (functional.nll_loss, TARGETS),
    "nll_loss of images": (
        lambda x, i: functional.nll_loss(x[:, :, None].expand(3, 5, 2), ts.stack([i, i], 1)), TARGETS
    ),
    "multi_margin_loss": (functional.multi_margin_loss, TARGETS),
    "gather": (lambda x, i: x.gather(1, i), COLUMNS),
    "index_select": (lambda x, i: x.index_select(1, i), TARGETS),
    "index": (lambda x, i: x[:, i], TARGETS),
    "take": (lambda x, i: x.take(i), TARGETS),
    "scatter": (lambda x, i: x.scatter(1, i, 2.0), COLUMNS),
    "scatter_add": (lambda x, i: x.scatter_add(1, i, x), COLUMNS),
    "index_add": (lambda x, i: x.index_add(1, i, x[:, :3]), TARGETS),
}  # fmt: skip


def with_gradient(function, x, i):
    """Return the result of `function`, and the gradient of the sum of its squares."""
    x = x.detach().requires_grad_()
    result = function(x, i)
    return result.detach(), ts.autograd.grad((result * result).sum(), x)[0]


@pytest.mark.parametrize("name", OPERATORS)
def test_graphs_contain_index_operators(cuda, name):
    """Operators with indices, and their derivatives, run during the capture of a graph."""
    function, indices = OPERATORS[name]
    x, i = ts.randn(3, 5), ts.tensor(indices)
    on_device, i_on_device = x.cuda(), i.cuda()
    with_gradient(function, on_device, i_on_device)  # compiles the kernels
    graph = ts.cuda.CUDAGraph()
    with ts.cuda.graph(graph):
        results = with_gradient(function, on_device, i_on_device)
    for other in (x, x * 2 + 1):
        on_device.copy_(other)
        graph.replay()
        for expected, got in zip(with_gradient(function, other, i), results, strict=True):
            assert got.cpu().allclose(expected, rtol=1e-5, atol=1e-5)


OUT_OF_RANGE = {
    "embedding": "functional.embedding(ts.tensor([0, {0}], device='cuda'), ts.ones(3, 2, device='cuda'))",
    "cross_entropy": "functional.cross_entropy(ts.ones(2, 3, device='cuda'), ts.tensor([0, {0}], device='cuda'))",
    "gather": "ts.ones(3, 3, device='cuda').gather(0, ts.tensor([[0, {0}]], device='cuda'))",
    "scatter": "ts.ones(3, 3, device='cuda').scatter(0, ts.tensor([[0, {0}]], device='cuda'), 1.0)",
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
@pytest.mark.parametrize("index", [3, -1])
def test_invalid_indices_stop_the_device(cuda, name, index):
    """The call itself succeeds, and a later synchronization raises CUDA's error."""
    import cupy

    program = OUT_OF_RANGE[name].format(index)
    if not hasattr(cupy, "__version__"):
        eval(program, {"ts": ts, "functional": functional})
        with pytest.raises(cupy.cuda.runtime.CUDARuntimeError, match="cudaErrorLaunchFailure"):
            ts.cuda.synchronize()
        ts.cuda.synchronize()
        return
    # The error makes the CUDA context unusable. Therefore, the program runs in another process.
    code = f"import ts\nfrom ts.nn import functional\n{program}\nprint('queued')\nts.cuda.synchronize()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode and "queued" in done.stdout and "cudaError" in done.stderr


def test_valid_indices_at_the_limits(cuda):
    """The first and the last index are valid, ignored targets are not checked, and `take` accepts negative ones."""
    x = ts.arange(6.0).reshape(2, 3).cuda()
    assert functional.cross_entropy(x, ts.tensor([-100, 2]).cuda()).isfinite().item()
    assert x.take(ts.tensor([-6, 5]).cuda()).tolist() == [0, 5]
    assert x.gather(1, ts.tensor([[0], [2]], dtype=ts.int32).cuda()).tolist() == [[0], [5]]
    assert x.index_select(1, ts.arange(6).cuda()[::2].clamp(max=2)).tolist() == [[0, 2, 2], [3, 5, 5]]
    ts.cuda.synchronize()


def test_many_indices_are_checked(cuda):
    """Each thread checks several indices if there are more than threads."""
    import cupy

    if hasattr(cupy, "__version__"):
        pytest.skip("an invalid index makes the CUDA context unusable")
    from ts.backends.cuda import index_checks

    index = ts.arange(300_000, device="cuda") % 7
    with cuda.on(0):
        index_checks.check(index.array, 0, 7)
    ts.cuda.synchronize()
    index[299_999] = 7
    with cuda.on(0):
        index_checks.check(index.array, 0, 7)
    with pytest.raises(cupy.cuda.runtime.CUDARuntimeError):
        ts.cuda.synchronize()


@pytest.mark.skipif(nvrtc.available() is not None, reason=str(nvrtc.available()))
def test_sources_compile(cuda):
    """NVRTC compiles the kernels for each dtype."""
    from ts.backends.cuda import embedding, index_checks

    for module in (embedding, index_checks):
        for dtype in module.C_TYPES:
            assert nvrtc.compiled(module.generate_source(dtype), ("--std=c++17",)).count(".entry") == 1
