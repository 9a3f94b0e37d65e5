"""Attention on CUDA devices, in chunks of heads or queries, with limited memory for the scores.

The tests run on a GPU if available (`make test-cuda`), otherwise on the fake CuPy in `tests/fake_cupy`.
"""

import numpy as np
import pytest

import ts
from ts.nn.functional import scaled_dot_product_attention

pytestmark = pytest.mark.cuda
TOLERANCE = {ts.float64: 1e-12, ts.float32: 2e-5, ts.float16: 4e-3, ts.bfloat16: 3e-2}


@pytest.fixture(params=[1 << 25, 100, 30, 4], ids=lambda n: f"{n} scores")
def max_scores(cuda, request, monkeypatch):
    """Limit the scores of a chunk: all at once, several heads, several queries of a head, one query."""
    from ts.backends.cuda import attention

    monkeypatch.setattr(attention, "MAX_SCORE_ELEMENTS", request.param)
    return request.param


def operands(dtype, query=(2, 3, 5, 4), key=(2, 3, 7, 4), value=(2, 3, 7, 6)):
    rng = np.random.default_rng(0)
    return [ts.tensor(rng.standard_normal(shape)).to(dtype) for shape in (query, key, value)]


def compare(args, dtype, **options):
    on_device = {k: v.cuda() if isinstance(v, ts.Tensor) else v for k, v in options.items()}
    expected = scaled_dot_product_attention(*args, **options)
    got = scaled_dot_product_attention(*[x.cuda() for x in args], **on_device)
    assert got.is_cuda and got.dtype is expected.dtype and got.shape == expected.shape
    assert got.stride() == expected.stride()
    tolerance = TOLERANCE[dtype]
    assert np.allclose(got.cpu().double().numpy(), expected.double().numpy(), rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_dtypes_and_masks(max_scores, dtype):
    """Chunks have the results of one matrix of all scores, for each kind of mask."""
    q, k, v = operands(dtype)
    rng = np.random.default_rng(1)
    compare((q, k, v), dtype)
    compare((q, k, v), dtype, is_causal=True)
    compare((q, k, v), dtype, scale=0.3)
    for shape in ((5, 7), (2, 1, 5, 7), (2, 3, 5, 7), (1, 7), (5, 1), (3, 1, 1)):
        compare((q, k, v), dtype, attn_mask=ts.tensor(rng.uniform(size=shape) > 0.4))
        compare((q, k, v), dtype, attn_mask=ts.tensor(rng.standard_normal(shape)).to(dtype))
    masked = ts.ones(5, 7, dtype=ts.bool)
    masked[2] = False
    compare((q, k, v), dtype, attn_mask=masked)


@pytest.mark.parametrize(
    "shapes",
    [
        ((5, 4), (7, 4), (7, 6)), ((2, 1, 5, 4), (1, 3, 7, 4), (3, 7, 6)), ((2, 3, 7, 4), (2, 3, 5, 4), (2, 3, 5, 4)),
        ((2, 0, 4), (2, 3, 4), (2, 3, 6)), ((0, 5, 4), (0, 7, 4), (0, 7, 6)), ((2, 1, 4), (2, 9, 4), (2, 9, 4)),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("dtype", [ts.float32, ts.bfloat16], ids=str)
def test_shapes(max_scores, shapes, dtype):
    """Stacks are broadcast, and empty operands have empty results."""
    compare(operands(dtype, *shapes), dtype)
    compare(operands(dtype, *shapes), dtype, is_causal=True)


def test_grouped_queries(max_scores):
    """`enable_gqa` repeats keys and values."""
    compare(operands(ts.float16, (2, 6, 5, 4), (2, 2, 7, 4), (2, 2, 7, 4)), ts.float16, enable_gqa=True)


def test_permuted_operands(max_scores):
    """Operands may be views, as in layers that split a projection into heads."""
    q, k, v = (x.transpose(1, 2) for x in operands(ts.float32, (2, 5, 3, 4), (2, 7, 3, 4), (2, 7, 3, 4)))
    compare((q, k, v), ts.float32)


def test_chunks(cuda, monkeypatch):
    """Each chunk has at most MAX_SCORE_ELEMENTS scores unless one query has more, and each query is in one chunk."""
    from ts.backends.cuda import attention

    monkeypatch.setattr(attention, "MAX_SCORE_ELEMENTS", 100)
    for count, rows, keys in ((1, 1, 1), (7, 5, 4), (3, 30, 10), (2, 3, 200), (5, 0, 3), (4, 3, 0), (1, 101, 1)):
        seen = np.zeros((count, rows), int)
        for heads, queries in attention.chunks(count, rows, keys):
            chunk = seen[heads, queries]
            chunk += 1
            assert chunk.size * keys <= 100 or chunk.size == 1
        assert (seen == 1).all()


def test_memory_of_scores(cuda, monkeypatch):
    """The peak memory does not grow with the number of scores."""
    from ts.backends.cuda import attention

    monkeypatch.setattr(attention, "MAX_SCORE_ELEMENTS", 1 << 14)
    q, k, v = (ts.randn(4, 512, 8, device="cuda") for _ in range(3))
    scaled_dot_product_attention(q, k, v)
    before = ts.cuda.memory_allocated()
    ts.cuda.reset_peak_memory_stats()
    scaled_dot_product_attention(q, k, v, is_causal=True)
    assert ts.cuda.max_memory_allocated() - before < 1 << 20  # all scores: 4 MiB


def test_dropout_and_gradients(cuda):
    """Dropout removes weights, and gradients equal those on the CPU."""
    q, k, v = operands(ts.float32)
    ones = ts.ones(2, 3, 7, 1, device="cuda")
    ts.manual_seed(0)
    sums = scaled_dot_product_attention(q.cuda(), k.cuda(), ones, dropout_p=0.5).cpu()
    assert sums.std().item() > 0.1 and 0.5 < sums.mean().item() < 1.5
    grads = []
    for on in ("cpu", "cuda"):
        args = [x.clone().to(on).requires_grad_() for x in (q, k, v)]
        scaled_dot_product_attention(*args, is_causal=True).square().sum().backward()
        grads.append([x.grad.cpu().numpy() for x in args])
    assert all(np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(*grads, strict=True))


def test_graphs(max_scores):
    """A captured attention reads the operands of each replay."""
    args = [x.cuda() for x in operands(ts.bfloat16)]
    scaled_dot_product_attention(*args, is_causal=True)
    graph = ts.cuda.CUDAGraph()
    with ts.cuda.graph(graph):
        result = scaled_dot_product_attention(*args, is_causal=True)
    args[0].mul_(-2)
    graph.replay()
    expected = scaled_dot_product_attention(*[x.cpu() for x in args], is_causal=True)
    assert np.allclose(result.cpu().float().numpy(), expected.float().numpy(), rtol=3e-2, atol=3e-2)
