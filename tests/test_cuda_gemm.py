"""Products of 16-bit floats on CUDA devices: one cuBLAS call with 16-bit operands and float32 sums.

The tests run on a GPU if available (`make test-cuda`), otherwise on the fake CuPy in `tests/fake_cupy`.
"""

import numpy as np
import pytest

import ts

pytestmark = pytest.mark.cuda
DTYPES = (ts.float16, ts.bfloat16)


@pytest.fixture
def calls(cuda):
    """Return the list of cuBLAS calls of the fake CuPy, or None on a GPU."""
    import cupy

    if hasattr(cupy, "__version__"):  # CuPy itself
        return None
    from tests.fake_cupy import cublas

    cublas.calls.clear()
    return cublas.calls


def rounded(values, dtype):
    """Return small multiples of 1/8, whose products and sums are exact in float32."""
    return ts.tensor(np.round(values * 8) / 8).to(dtype)


def operand(shape, dtype, seed=0):
    return rounded(np.random.default_rng(seed).uniform(-2, 2, shape), dtype)


def expected_product(x, y):
    return ts.matmul(x.float(), y.float()).to(x.dtype)


LAYOUTS = {
    "plain": lambda x: x,
    "transposed": lambda x: x.transpose(-1, -2).contiguous().transpose(-1, -2),
    "part of larger rows": lambda x: ts.cat([x, x], -1)[..., : x.shape[-1]],
    "every second column": lambda x: ts.stack([x, x], -1).flatten(-2)[..., ::2],
    "part of larger columns": lambda x: ts.cat([x, x], -2).transpose(-1, -2).contiguous().transpose(-1, -2)[..., : x.shape[-2], :],
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("second", LAYOUTS)
def test_layouts_are_read_in_place(cuda, calls, dtype, first, second):
    """Row-major and column-major matrices, and parts of them, are multiplied by one call without copies."""
    x, y = operand((5, 7), dtype), operand((7, 3), dtype, 1)
    a, b = LAYOUTS[first](x).cuda(), LAYOUTS[second](y).cuda()
    assert (a @ b).cpu().equal(expected_product(x, y))
    assert calls is None or calls == [("gemmEx", (3, 5, 7, 1))]
    stacks = operand((2, 5, 7), dtype, 2), operand((2, 7, 3), dtype, 3)
    a, b = LAYOUTS[first](stacks[0]).cuda(), LAYOUTS[second](stacks[1]).cuda()
    assert ts.bmm(a, b).cpu().equal(expected_product(*stacks))
    assert calls is None or calls[1:] == [("gemmStridedBatchedEx", (3, 5, 7, 2))]


SHAPES = [
    ((3,), (3,)), ((3,), (3, 4)), ((4, 3), (3,)), ((2, 4, 3), (3,)), ((3,), (2, 3, 5)), ((1, 1), (1, 1)),
    ((2, 4, 3), (3, 5)), ((4, 3), (2, 3, 5)), ((2, 1, 4, 3), (6, 3, 5)), ((2, 6, 4, 3), (1, 6, 3, 5)),
    ((2, 1, 3), (2, 3, 1)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((0, 2, 3), (0, 3, 2)), ((5, 1), (1, 6)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes(cuda, dtype, shapes):
    """Vectors, matrices, stacks and broadcast stacks have the products of NumPy's `matmul`."""
    x, y = (operand(shape, dtype, k) for k, shape in enumerate(shapes))
    result = ts.matmul(x.cuda(), y.cuda())
    assert result.dtype is dtype and result.cpu().equal(expected_product(x, y))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_operators(cuda, calls, dtype):
    """mm, addmm, bmm, baddbmm, linear, mv, matmul and their derivatives multiply 16-bit operands."""
    x, w, b = operand((4, 6), dtype), operand((5, 6), dtype, 1), operand((5,), dtype, 2)
    s, t = operand((2, 4, 6), dtype, 3), operand((2, 6, 3), dtype, 4)
    for f, args in (
        (lambda x, w, b: ts.mm(x, w.t()), (x, w, b)),
        (lambda x, w, b: ts.addmm(b, x, w.t(), beta=2, alpha=0.5), (x, w, b)),
        (ts.nn.functional.linear, (x, w, b)),
        (ts.nn.functional.linear, (operand((2, 3, 6), dtype), w, b)),
        (lambda s, t: ts.bmm(s, t), (s, t)),
        (lambda s, t: ts.baddbmm(ts.ones_like(s[:, :, :3]), s, t), (s, t)),
        (lambda x, w: ts.mv(x, w[0]), (x, w)),
    ):
        on_cpu, on_device = [a.clone().requires_grad_() for a in args], [a.cuda().requires_grad_() for a in args]
        expected, got = f(*on_cpu), f(*on_device)
        assert got.dtype is dtype and np.allclose(
            got.detach().cpu().float().numpy(), expected.detach().float().numpy(), rtol=1e-2, atol=1e-2
        )
        if calls is not None:
            assert len(calls) == 1
        expected.sum().backward()
        got.sum().backward()
        for p, q in zip(on_cpu, on_device, strict=True):
            if p.grad is not None:
                assert np.allclose(q.grad.cpu().float().numpy(), p.grad.float().numpy(), rtol=1e-2, atol=1e-2)
        if calls is not None:
            calls.clear()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums_have_float32(cuda, dtype):
    """Sums are added in float32: 4096 products of 1 are 4096, which 16-bit sums do not reach."""
    x = ts.ones(2, 4097, dtype=dtype, device="cuda")
    assert (x @ x.t()).cpu().tolist() == ts.full((2, 2), 4097.0).to(dtype).tolist()
    y = ts.full((1, 2), 1.0, dtype=dtype, device="cuda")
    z = ts.tensor([[2.0**-12], [1.0]]).to(dtype).cuda()
    assert (y @ z).item() == ts.tensor(1 + 2.0**-12).to(dtype).item()


def test_products_in_graphs(cuda):
    """A captured product reads the operands of each replay."""
    x, w = (operand(s, ts.bfloat16).cuda() for s in ((3, 4), (4, 2)))
    x @ w
    graph = ts.cuda.CUDAGraph()
    with ts.cuda.graph(graph):
        y = x @ w
    new = operand((3, 4), ts.bfloat16, 7)
    x.copy_(new)
    graph.replay()
    assert y.cpu().equal(expected_product(new, w.cpu()))
