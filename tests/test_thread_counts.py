"""Results have the same bits for every number of threads, also if small inputs are divided."""

import functools

import pytest

import ts
from tests.divided_work import divided_work
from ts.backends.cpu.kernels import parallel_for

F = ts.nn.functional


@functools.cache
def normals(*shape, dtype=ts.float32):
    """Return a tensor with normally distributed elements. In-place operators use copies of it."""
    return ts.randn(shape, generator=ts.Generator().manual_seed(sum(shape)), dtype=ts.float64).to(dtype)


FUSED = ts.jit.CompilationUnit("""
def pointwise(x, y):
    return torch.sigmoid(x * y + x).tanh() * y, x - y * 2

def softmax(x, y):
    return torch.softmax(x * y + 1, -1)

def sum(x, y):
    return (x * y + x).exp().sum(-1)

def total(x, y):
    return (x * y + x).exp().sum()
""")


def repeat(function, *arguments):
    """Return the result of the third call, which runs the optimized graph."""
    for _ in range(2):
        function(*arguments)
    return function(*arguments)


CASES = {
    "fused pointwise": lambda d: repeat(FUSED.pointwise, normals(300, 301, dtype=d), normals(300, 301, dtype=d)),
    "fused broadcast": lambda d: repeat(FUSED.pointwise, normals(300, 301, dtype=d), normals(301, dtype=d)),
    "fused softmax": lambda d: repeat(FUSED.softmax, normals(300, 301, dtype=d), normals(300, 301, dtype=d)),
    "fused sum of rows": lambda d: repeat(FUSED.sum, normals(300, 301, dtype=d), normals(300, 301, dtype=d)),
    "fused sum": lambda d: repeat(FUSED.total, normals(300, 301, dtype=d), normals(300, 301, dtype=d)),
    "unary": lambda d: (normals(300, 301, dtype=d).exp(), normals(300, 301, dtype=d).tanh(), normals(3001, dtype=d)[::2].sin()),
    "binary": lambda d: (normals(3, 1001, dtype=d) * normals(3, 1001, dtype=d), normals(3001, dtype=d) + 1, normals(3001, dtype=d) > 0.5),
    "in place": lambda d: (normals(3, 1001, dtype=d).clone().mul_(normals(1001, dtype=d)), normals(3001, dtype=d).clone().exp_(), normals(3001, dtype=d).clone().div_(3)),
    "strided": lambda d: (normals(70, 80, dtype=d).t() * normals(80, 70, dtype=d), normals(70, 80, dtype=d).t().exp()),
    "broadcast": lambda d: (normals(5, 1, 2001, dtype=d) / normals(3, 1, dtype=d), normals(2, 3000, dtype=d) - normals(2, 1, dtype=d)),
    "out": lambda d: ts.add(normals(3, 1001, dtype=d), normals(3, 1001, dtype=d), out=ts.empty(3, 1001, dtype=d)),
    "half precision": lambda d: (normals(3001, dtype=ts.float16) * normals(3001, dtype=ts.float16), normals(3001, dtype=ts.bfloat16).exp()),
    "integers": lambda d: (ts.arange(9001) * 3, ts.arange(9001) // 7, ts.arange(9001) ** ts.tensor(2), ts.arange(9001) & 5),
    "complex": lambda d: normals(3001, dtype=ts.complex64) * normals(3001, dtype=ts.complex64),
    "where": lambda d: ts.where(normals(301, 301, dtype=d) > 0, normals(301, dtype=d), normals(301, 1, dtype=d)),
    "softmax": lambda d: [f(normals(37, 131, dtype=d), -1) for f in (ts.softmax, ts.log_softmax, ts.logsumexp)],
    "softmax of columns": lambda d: [f(normals(9, 31, 41, dtype=d), 1) for f in (ts.softmax, ts.log_softmax, ts.logsumexp)],
    "layer norm": lambda d: (F.layer_norm(normals(37, 131, dtype=d), (131,), normals(131, dtype=d), normals(131, dtype=d)),
                             *ts.native_layer_norm(normals(37, 131, dtype=d), (131,), None, None, 1e-5)),
    "RMS norm": lambda d: F.rms_norm(normals(37, 131, dtype=d), (131,), normals(131, dtype=d)),
    "group norm": lambda d: F.group_norm(normals(5, 12, 31, dtype=d), 3, normals(12, dtype=d), normals(12, dtype=d)),
    "activations": lambda d: [f(normals(5001, dtype=d)) for f in (F.silu, F.gelu, F.elu, F.softplus, F.hardtanh, F.mish, F.relu)],
    "gradients of activations": lambda d: (ts.ops.aten.threshold_backward(normals(5001, dtype=d), normals(5001, dtype=d), 0.5),
                                           ts.ops.aten.tanh_backward(normals(5001, dtype=d), normals(5001, dtype=d))),
    "half activations": lambda d: [F.silu(normals(5001, dtype=t)) for t in (ts.float16, ts.bfloat16)],
    "clamp": lambda d: (normals(5001, dtype=d).clamp(-1, 0.5), normals(5001, dtype=d).clone().clamp_(min=0), ts.arange(5001).clamp(3, 4000)),
    "formulas": lambda d: (normals(5001, dtype=d) ** 2, normals(5001, dtype=d).abs() ** 1.7, 1 - normals(5001, dtype=d),
                           ts.addcmul(normals(5001, dtype=d), normals(5001, dtype=d), normals(5001, dtype=d), value=0.3),
                           ts.lerp(normals(5001, dtype=d), normals(1, dtype=d).expand(5001).contiguous(), 0.7)),
    "casts": lambda d: [normals(5001, dtype=d).mul(99).to(t) for t in (ts.int64, ts.int32, ts.float16, ts.bfloat16, ts.bool)],
    "scans": lambda d: (normals(37, 131, dtype=d).cumsum(1), normals(9, 31, 41, dtype=d).cumprod(1)),
    "sort": lambda d: (*normals(37, 131, dtype=d).sort(1), *normals(37, 131, dtype=d).topk(5, 0), *normals(37, 131, dtype=d).median(1)),
    "sums": lambda d: [f(normals(37, 131, dtype=d), 1) for f in (ts.sum, ts.mean, ts.prod, ts.var, ts.linalg.vector_norm)],
    "sums of columns": lambda d: [f(normals(37, 1310, dtype=d), 0) for f in (ts.sum, ts.mean, ts.prod, ts.var, ts.linalg.vector_norm)],
    "index_select": lambda d: (normals(50, 33, dtype=d).index_select(0, ts.arange(99) % 50), normals(50, 33, dtype=d).index_select(1, ts.arange(99) % 33),
                               F.embedding(ts.arange(999) % 50, normals(50, 33, dtype=d)), ts.take(normals(5001, dtype=d), ts.arange(999) * 5)),
    "cat": lambda d: (ts.cat([normals(50, 33, dtype=d), normals(50, 35, dtype=d)], 1), ts.cat([normals(150, 33, dtype=d)] * 3), ts.stack([normals(99, 33, dtype=d)] * 2, 1)),
    "copy": lambda d: normals(50, 331, dtype=d).clone(),
    "product": lambda d: normals(130, 70, dtype=d) @ normals(70, 90, dtype=d),
    "product of few rows": lambda d: normals(3, 700, dtype=d) @ normals(700, 1900, dtype=d),
    "batched product": lambda d: normals(5, 31, 40, dtype=d) @ normals(5, 40, 33, dtype=d),
    "linear": lambda d: F.linear(normals(200, 64, dtype=d), normals(148, 64, dtype=d), normals(148, dtype=d)),
    "convolution": lambda d: F.conv2d(normals(2, 6, 20, 21, dtype=d), normals(9, 6, 3, 3, dtype=d), normals(9, dtype=d), padding=1),
    "strided convolution": lambda d: F.conv2d(normals(2, 6, 20, 21, dtype=d), normals(9, 6, 3, 3, dtype=d), stride=2),
    "depthwise convolution": lambda d: F.conv2d(normals(2, 6, 20, 21, dtype=d), normals(6, 1, 3, 3, dtype=d), groups=6),
    "transposed convolution": lambda d: F.conv_transpose2d(normals(2, 6, 20, 21, dtype=d), normals(6, 9, 3, 3, dtype=d), stride=2),
    "pooling": lambda d: (F.max_pool2d(normals(2, 5, 20, 20, dtype=d), 3, 2, 1), F.avg_pool2d(normals(2, 5, 20, 20, dtype=d), 3)),
    "adaptive pooling": lambda d: F.adaptive_avg_pool2d(normals(2, 5, 20, 20, dtype=d), (7, 6)),
    "attention": lambda d: F.scaled_dot_product_attention(*[normals(2, 3, 50, 16, dtype=d) * (i + 1) for i in range(3)], is_causal=True),
    "resampling": lambda d: F.interpolate(normals(3, 5, 17, 19, dtype=d), size=(30, 23), mode="bicubic"),
    "grid sampling": lambda d: F.grid_sample(normals(2, 40, 30, 30, dtype=d), normals(2, 40, 40, 2, dtype=d), align_corners=False),
}  # fmt: skip


def bits(result):
    results = result if isinstance(result, (tuple, list)) else (result,)
    return [(str(x.dtype), tuple(x.shape), x.contiguous().numpy().tobytes()) for x in results]


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
@pytest.mark.parametrize("name", CASES)
def test_bits_for_all_numbers_of_threads(name, dtype):
    found = []
    for threads in (1, 2, 3, 7):
        with divided_work(threads):
            found.append(bits(CASES[name](dtype)))
    assert found == [found[0]] * 4


@pytest.mark.parametrize("name", CASES)
def test_operators_are_divided(name):
    """With 7 threads, an operator of each family runs on worker threads, so that the test above compares."""
    with divided_work(1):
        CASES[name](ts.float32)  # creates the operands
    with divided_work(7):
        before = parallel_for.job_count()
        CASES[name](ts.float32)
        assert parallel_for.job_count() > before
