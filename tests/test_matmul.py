"""Products of matrices on the CPU: every stride and factor, with BLAS and without."""

import os
import subprocess
import sys

import numpy as np
import pytest

import ts
from ts.backends.cpu import blas
from ts.backends.cpu import thread_pool
from ts.backends.cpu.kernels import microkernels, packed_operand_cache, simd_level
from ts.backends.cpu.kernels.matmul import multiply, use_tiles

NEEDS_PACKING = pytest.mark.skipif(
    simd_level.current_level() == "baseline", reason="weights are packed at the SIMD levels avx2 and avx512; at others the BLAS multiplies"
)
LAYOUTS = {
    "rows": lambda x: np.ascontiguousarray(x),
    "columns": lambda x: np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2),
    "wide rows": lambda x: np.concatenate([x, x], -1)[..., : x.shape[-1]],
    "every second": lambda x: np.repeat(x, 2, -1)[..., ::2],
    "backwards": lambda x: np.ascontiguousarray(x[..., ::-1, :])[..., ::-1, :],
    "expanded": lambda x: np.broadcast_to(x[..., :1, :], x.shape),
}
SHAPES = [(3, 4, 5), (1, 4, 5), (3, 1, 5), (3, 4, 1), (1, 1, 1), (40, 30, 50)]


def numbers(shape, dtype):
    r = np.random.default_rng(1)
    x = r.integers(-4, 5, shape) + (1j * r.integers(-4, 5, shape) if np.dtype(dtype).kind == "c" else 0)
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_layouts(left, right, dtype):
    """Products of any memory layout are exact for small integers."""
    for m, k, n in SHAPES:
        for batch_shape in ((), (3,)):
            a, b = LAYOUTS[left](numbers((*batch_shape, m, k), dtype)), LAYOUTS[right](numbers((*batch_shape, k, n), dtype))
            c = numbers((*batch_shape, m, n), dtype)
            expected = 2 * np.matmul(a, b) - 3 * c
            if multiply(a, b, c, 2.0, -3.0):
                assert np.array_equal(c, expected)
            else:
                assert blas.library() is None
            if min(*a.strides, *b.strides) < 0:  # tensors have no negative strides
                continue
            x, y = ts.from_numpy(a), ts.from_numpy(b)
            assert np.array_equal(ts.matmul(x, y).numpy(), np.matmul(a, b))
            name = "baddbmm" if batch_shape else "addmm"
            actual = getattr(ts, name)(ts.from_numpy(c), x, y, beta=0.5, alpha=2).numpy()
            assert np.array_equal(actual, 0.5 * c + 2 * np.matmul(a, b))


@pytest.fixture(params=[512, 256, 128])
def tiles(request):
    """Use the project's microkernels with vectors of the given number of bits, if the processor supports
    them."""
    before = use_tiles(True)
    microkernels.instruction_set(request.param)
    yield
    microkernels.instruction_set(512)
    use_tiles(before)


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("left", ["rows", "columns", "wide rows"])
@pytest.mark.parametrize("right", ["rows", "columns", "wide rows"])
def test_tiles(tiles, left, right, dtype):
    """Products with sizes at the edges of tiles, panels and blocks are exact for small integers."""
    for m, k, n in [(8, 256, 48), (9, 257, 49), (71, 100, 33), (300, 17, 211), (23, 600, 400)]:
        a, b = LAYOUTS[left](numbers((m, k), dtype)), LAYOUTS[right](numbers((k, n), dtype))
        c = numbers((m, n), dtype)
        expected = 2 * np.matmul(a, b) - 3 * c
        assert multiply(a, b, c, 2.0, -3.0) and np.array_equal(c, expected)
        c[:] = np.nan
        assert multiply(a, b, c, 1.0, 0.0) and np.array_equal(c, np.matmul(a, b))


def test_tiles_of_a_stack(tiles):
    a, b = numbers((5, 40, 90), "f"), numbers((5, 90, 70), "f")
    assert np.array_equal(ts.bmm(ts.from_numpy(a), ts.from_numpy(b)).numpy(), np.matmul(a, b))


@pytest.mark.parametrize("microkernel_bits", [False, True])
@pytest.mark.parametrize("m, k, n", [(300, 400, 500), (1, 3000, 700), (2500, 900, 1), (700, 3, 800)])
def test_panels_fill_the_product(m, k, n, microkernel_bits):
    """Products computed by several threads are correct for every partition into panels."""
    before, threads = use_tiles(microkernel_bits), ts.get_num_threads()
    ts.set_num_threads(3)
    try:
        for dtype in "fdFD":
            a, b = numbers((m, k), dtype), numbers((k, n), dtype)
            for x in (a, LAYOUTS["columns"](a), LAYOUTS["every second"](a)):
                for y in (b, LAYOUTS["columns"](b)):
                    result = ts.matmul(ts.from_numpy(x), ts.from_numpy(y)).numpy()
                    assert np.array_equal(result, np.matmul(x, y))
    finally:
        ts.set_num_threads(threads)
        use_tiles(before)


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("left", ["rows", "columns", "wide rows"])
@pytest.mark.parametrize("right", ["rows", "columns", "wide rows"])
def test_few_rows(tiles, left, right, dtype):
    """Products with few rows are exact for sizes at the ends of vectors, in both memory orders."""
    for m, k, n in [(1, 16, 16), (1, 37, 50), (2, 33, 131), (3, 48, 17), (4, 100, 64), (7, 21, 40), (16, 5, 200)]:
        a, b = LAYOUTS[left](numbers((m, k), dtype)), LAYOUTS[right](numbers((k, n), dtype))
        bias = numbers((n,), dtype)
        c = np.full((m, n), np.nan, dtype)
        assert multiply(a, b, c, 2.0, 0.0) and np.array_equal(c, 2 * np.matmul(a, b))
        x, y, z = ts.from_numpy(a), ts.from_numpy(b.T), ts.from_numpy(bias)
        for given, expected in ((None, np.matmul(a, b)), (z, np.matmul(a, b) + bias)):
            assert np.array_equal(ts.nn.functional.linear(x, y, given).numpy(), expected)
            assert np.array_equal(ts.nn.functional.linear(x.unsqueeze(0), y, given)[0].numpy(), expected)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64])
def test_packed_products_have_the_same_bits(tiles, dtype):
    """Products have equal bits with and without packed weights and for every number of threads."""
    before = thread_pool.count()
    try:
        for m, k, n in [(1, 130, 700), (2, 130, 700), (2, 100, 900), (5, 64, 190), (70, 300, 211), (70, 600, 2000)]:
            x, weight, bias = ts.randn(m, k, dtype=dtype), ts.randn(n, k, dtype=dtype), ts.randn(n, dtype=dtype)
            packed_operand_cache.clear()
            results = []
            for threads in (1, 3, 2, 1):  # the second and later calls use the packed weights
                thread_pool.set_count(threads)
                results.append(ts.nn.functional.linear(x, weight, bias))
            assert packed_operand_cache.cache_size()[0] == 1
            shifted = x.unsqueeze(0).contiguous()
            results += [ts.nn.functional.linear(shifted, weight, bias)[0], ts.mm(x, weight.t()) + bias]
            assert all(ts.equal(results[0], each) for each in results[1:])
    finally:
        thread_pool.set_count(before)


@NEEDS_PACKING
def test_summands_of_packed_products():
    """`addmm` returns equal results with and without packed weights, for row and matrix summands."""
    for m in (1, 20):
        x, weight = (ts.tensor(numbers(shape, "f")) for shape in ((m, 64), (48, 64)))
        packed_operand_cache.clear()
        for summand in (ts.ones(48), ts.ones(1, 48), ts.ones(m, 48), ts.ones(m, 1)):
            for beta, alpha in ((1, 1), (2, 1), (1, 3), (0, 2)):
                result = ts.addmm(summand, x, weight.t(), beta=beta, alpha=alpha)
                assert ts.equal(result, beta * summand + alpha * (x.unsqueeze(1) * weight).sum(2))
        assert packed_operand_cache.cache_size()[0] == 1


@NEEDS_PACKING
@pytest.mark.parametrize("grad", (True, False), ids=("recorded", "no_grad"))
def test_weights_of_modules_are_packed(grad):
    """The weight of a Linear module is packed, also while autograd records the product with its transposed view."""
    module, x = ts.nn.Linear(64, 48), ts.randn(20, 64)
    packed_operand_cache.clear()
    with ts.set_grad_enabled(grad):
        results = [module(x) for _ in range(3)]
        assert packed_operand_cache.cache_size()[0] == 1
        with ts.no_grad():
            module.weight.mul_(2)
        changed = module(x)
    assert ts.equal(results[0], results[2])
    assert ts.allclose(changed - module.bias, 2 * (results[0] - module.bias), atol=1e-5)


WRITES = {
    "in place": lambda w: w.mul_(2),
    "a view": lambda w: w[3:].t().add_(1),
    "its data": lambda w: w.data.mul_(2),
    "detached": lambda w: w.detach().zero_(),
    "NumPy": lambda w: w.numpy().fill(3),
    "DLPack": lambda w: np.from_dlpack(w.detach()).__iadd__(1),
    "its storage": lambda w: w.untyped_storage().fill_(0),
    "an index": lambda w: w.__setitem__((2, slice(None)), 7.0),
    "out=": lambda w: ts.add(w, 1, out=w),
    "other data": lambda w: setattr(w, "data", w * 3),
    "a parameter": lambda w: ts.nn.Parameter(w).detach().mul_(2),
}


@pytest.mark.parametrize("make", (ts.Tensor.detach, ts.nn.Parameter), ids=("tensor", "parameter"))
@pytest.mark.parametrize("write", WRITES)
def test_packed_weights_are_invalidated_by_writes(write, make):
    """A write to a factor invalidates its packed weights."""
    for m in (1, 20):
        x, weight = ts.randn(m, 64), make(ts.randn(48, 64))
        for _ in range(3):
            ts.nn.functional.linear(x, weight)
            product = ts.nn.functional.linear(x, weight)
            assert ts.allclose(product, (x.unsqueeze(1) * weight).sum(2), atol=1e-4)
            with ts.no_grad():
                WRITES[write](weight)


def _other_memory(how, k):
    """Return a 64 x 64 weight with the memory of `k`, whose version counter is that of another tensor."""
    if how == "parameter":
        weight = ts.nn.Parameter(ts.zeros(64, 64))
    elif how == "slice":
        weight = ts.zeros(128, 64)[:64]
    elif how == "detached":
        weight = ts.zeros(64, 64).detach()
    else:
        weight = ts.zeros(64 * 64).view(64, 64)
    if how == "view":
        weight.set_(k)
    else:
        weight.data = k.view(64, 64)
    return weight


@pytest.mark.parametrize("how", ("parameter", "slice", "detached", "view"))
def test_writes_to_the_memory_given_to_data(how):
    """After `weight.data = k`, a write to `k` does not increment the weight's version counter."""
    x, k = ts.ones(32, 64), ts.zeros(64, 64)
    weight = _other_memory(how, k)
    for n in range(6):
        k.fill_(n)
        assert ts.nn.functional.linear(x, weight).eq(64 * n).all()
        assert ts.mm(x, weight).eq(64 * n).all()


def test_vectors_of_parameters():
    """`vector_to_parameters` gives parameters views of the vector."""
    module, x = ts.nn.Linear(64, 64, bias=False), ts.ones(32, 64)
    vector = ts.zeros(64 * 64)
    ts.nn.utils.vector_to_parameters(vector, module.parameters())
    for n in range(5):
        assert module(x).eq(64 * n).all()
        vector.add_(1)


def test_factors_recreated_in_a_loop():
    """Packed weights are not reused for a new tensor at the same address."""
    program = """
def f(x, w):
    out = torch.zeros(20, 64)
    for i in range(12):
        w = torch.tanh(w * 0.9 + 0.1) * 1.5 - 0.2
        out = out + x @ w + torch.nn.functional.linear(x, w) + x @ w
    return out
"""
    run = ts.jit.CompilationUnit(program).f
    x, w = ts.randn(20, 64), ts.randn(64, 64) * 0.1
    expected, a, b = 0, x.detach().clone().double().numpy(), w.detach().clone().double().numpy()
    for _ in range(12):
        b = np.tanh(b * 0.9 + 0.1) * 1.5 - 0.2
        expected = expected + 2 * (a @ b) + a @ b.T
    for _ in range(3):
        assert np.allclose(run(x, w).numpy(), expected, rtol=1e-4, atol=1e-2)


@NEEDS_PACKING
def test_factors_with_shared_memory_are_not_packed():
    """Factors that share memory with other objects are not packed, because these objects may write to it."""
    packed_operand_cache.clear()
    x, weight, packed = ts.randn(20, 64), ts.randn(48, 64), []
    for hold in (lambda: None, lambda: weight.data, lambda: ts.nn.Parameter(weight), lambda: weight.untyped_storage(), lambda: None):
        other = hold()
        for _ in range(3):
            ts.nn.functional.linear(x, weight)
        packed.append(packed_operand_cache.cache_size()[0])
        del other
        packed_operand_cache.clear()
    assert packed == [1, 0, 0, 0, 1]
    shared = np.ones((48, 64), np.float32)
    for given in (ts.from_numpy(shared), weight if weight.data_ptr() else None):
        for _ in range(3):
            ts.nn.functional.linear(x, given)
    assert packed_operand_cache.cache_size() == (0, 0)


@NEEDS_PACKING
def test_packed_weights_are_bounded_and_released():
    packed_operand_cache.clear()
    x, weights = ts.randn(8, 2048), [ts.randn(2048, 2048) for _ in range(20)]
    for weight in weights:
        for _ in range(2):
            ts.nn.functional.linear(x, weight)
    count, size = packed_operand_cache.cache_size()
    assert 10 <= count < 20 and size <= 1 << 28
    ts.nn.functional.linear(x, weights[19])
    del weight
    weights.clear()
    assert packed_operand_cache.cache_size() == (0, 0)


def test_products_of_several_threads_at_once():
    """Concurrent products share packed weights while other threads write and release tensors."""
    from concurrent.futures import ThreadPoolExecutor

    x, weights = ts.ones(20, 64), [ts.ones(48, 64) for _ in range(4)]

    def run(k):
        for i in range(300):
            tensor = ts.full((48, 64), float(k))
            for _ in range(3):
                assert ts.nn.functional.linear(x, tensor)[0, 0].item() == 64 * k
            assert ts.nn.functional.linear(x, weights[i % 4])[0, 0].item() == 64
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(4)))


def attention(q, k, v, mask=None, causal=False):
    """Return attention by its definition in float64."""
    q, k, v = (x.detach().double() for x in (q, k, v))
    scores = ts.matmul(q, k.transpose(-1, -2)) / q.size(-1) ** 0.5
    if causal:
        mask = ts.ones(q.size(-2), k.size(-2), dtype=ts.bool).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -float("inf")) if mask.dtype == ts.bool else scores + mask.double()
    return ts.matmul(ts.softmax(scores, -1), v)


@pytest.mark.parametrize("rows, keys, width, microkernel_bits", [(1, 70, 32, 32), (5, 3, 4, 6), (40, 40, 24, 24), (300, 500, 20, 33)])
def test_attention(rows, keys, width, microkernel_bits):
    """Attention equals its definition for few rows and several blocks, strided and broadcast heads, and all
    kinds of masks."""
    ts.manual_seed(1)  # random masks could hide a whole row, for which the reference has NaN
    product = ts.nn.functional.scaled_dot_product_attention
    q, k, v = ts.randn(2, rows, 3, width).transpose(1, 2), ts.randn(2, 3, keys, width), ts.randn(1, 3, keys, microkernel_bits)
    masks = [None, ts.rand(rows, keys) > 0.1, ts.randn(2, 1, rows, keys), ts.randn(keys), ts.rand(3, 1, keys) > 0.1]
    for mask in masks:
        assert ts.allclose(product(q, k, v, mask), attention(q, k, v, mask).float(), atol=1e-5)
        one = product(q[0, 0], k[1, 2], v[0, 0], None if mask is None or mask.dim() > 2 else mask)
        assert ts.allclose(one, attention(q[0, 0], k[1, 2], v[0, 0], None if mask is None or mask.dim() > 2 else mask).float(), atol=1e-5)
    assert ts.allclose(product(q, k, v, is_causal=True), attention(q, k, v, causal=True).float(), atol=1e-5)
    every_second = ts.randn(2, 3, keys, 2 * width)[..., ::2]
    assert ts.allclose(product(q, every_second, v), attention(q, every_second, v).float(), atol=1e-5)


def test_attention_has_the_same_bits_in_any_block():
    """The bits of an attention row do not depend on the block of rows or the number of threads."""
    product, before = ts.nn.functional.scaled_dot_product_attention, thread_pool.count()
    q, k, v = ts.randn(1, 300, 32), ts.randn(1, 900, 32), ts.randn(1, 900, 32)
    try:
        expected = product(q, k, v)
        assert ts.equal(product(q[:, 41:200], k, v), expected[:, 41:200])
        thread_pool.set_count(3)
        assert ts.equal(product(q, k, v), expected)
        assert ts.equal(product(q.repeat(5, 1, 1), k, v)[3:4], expected)
    finally:
        thread_pool.set_count(before)


def test_fused_activations_of_encoder_layers():
    """Encoder layers with fused activation equal the unfused layers for all sizes of the inner product."""
    for shape in ((1, 1, 64), (2, 3, 64), (3, 40, 64)):
        for activation in ("relu", "gelu"):
            layer = ts.nn.TransformerEncoderLayer(64, 4, 200, activation=activation, batch_first=True).eval()
            x = ts.randn(*shape)
            expected = layer(x)
            with ts.no_grad():
                assert ts.allclose(layer(x), expected, atol=1e-5)


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.int64, ts.complex64, ts.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["addmm", "baddbmm"])
def test_sums_with_products_in_place(name, dtype):
    """In-place variants have the bits of the functional variants, also if `self` is one of the factors or strided."""
    stack = (3,) if name == "baddbmm" else ()
    x = (ts.randn(*stack, 8, 8) * 8).to(dtype)
    factors = {"beta": 2, "alpha": 3}
    for make in (lambda: x.clone(), lambda: x.mT.clone().mT, lambda: x.clone()[..., :1, :].expand(*stack, 8, 8).clone()):
        target = make()
        expected, version = getattr(target, name)(target, x, **factors), target._version
        assert getattr(target, name + "_")(target, x, **factors) is target
        assert ts.equal(target, expected) and target._version == version + 1
    other = (ts.randn(*stack, 8, 5)).to(dtype)
    message = "expand|size|shape"
    with pytest.raises(RuntimeError, match=message):
        getattr(ts.zeros(*stack, 1, 5, dtype=dtype), name + "_")(x, other)


def test_unsupported_operands_are_rejected():
    a, c = np.ones((2, 2), np.float32), np.ones((2, 2), np.float32)
    assert not multiply(a.astype(np.int64), a.astype(np.int64), c.astype(np.int64), 1, 0)
    assert not multiply(a, a.astype(np.float64), c, 1, 0)
    assert not multiply(a, np.ones((3, 2), np.float32), c, 1, 0)
    assert not multiply(a, a, np.ones((3, 2), np.float32), 1, 0)
    assert not multiply(np.ones((0, 2), np.float32), a, np.ones((0, 2), np.float32), 1, 0)
    assert not multiply(np.ones((2, 0), np.float32), np.ones((0, 2), np.float32), c, 1, 0)
    assert c.tolist() == [[1, 1], [1, 1]]


def test_zero_factors_and_empty_sums():
    """With beta = 0, NaN of the summand is ignored; an empty sum leaves the summand."""
    nan = ts.full((2, 2), float("nan"))
    assert ts.addmm(nan, ts.ones(2, 3), ts.ones(3, 2), beta=0).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert ts.addmm(ts.ones(2, 2), ts.ones(2, 0), ts.ones(0, 2), beta=3).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    x = ts.ones(2, 2)
    assert x.addmm_(x, x, alpha=2).tolist() == [[5.0, 5.0], [5.0, 5.0]]


def test_linear_of_any_rank():
    weight, bias = ts.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), ts.tensor([10.0, 20.0, 30.0])
    x = ts.tensor([1.0, 1.0])
    expected = [13.0, 27.0, 41.0]
    assert ts.nn.functional.linear(x, weight, bias).tolist() == expected
    assert ts.nn.functional.linear(x.expand(2, 2), weight, bias).tolist() == [expected] * 2
    assert ts.nn.functional.linear(x.repeat(2, 3, 1), weight, bias).tolist() == [[expected] * 3] * 2
    assert (
        ts.nn.functional.linear(x.repeat(2, 1), weight.t().contiguous().t()).tolist()
        == [[3.0, 7.0, 11.0]] * 2
    )
    assert ts.matmul(x.repeat(2, 3, 1), weight.t()).tolist() == [[[3.0, 7.0, 11.0]] * 3] * 2


@pytest.mark.parametrize("which", ["none", "numpy", "other"])
def test_the_library_can_be_chosen(which):
    """`TS_BLAS` selects the BLAS library before the first product."""
    program = "import ts; from ts.backends.cpu import blas; print((ts.ones(2, 3) @ ts.ones(3, 2)).tolist(), blas.library())"
    run = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "TS_BLAS": which}, capture_output=True, text=True
    )
    if which == "other":
        assert "TS_BLAS must be 'mkl', 'numpy' or 'none', not 'other'" in run.stderr
    else:
        assert run.stdout.startswith("[[3.0, 3.0], [3.0, 3.0]] "), run.stderr
        assert run.stdout.endswith("None\n") == (which == "none")


def test_stacks_of_any_rank_and_summands():
    """Batched products accept any rank, transposed batches and broadcast summands."""
    x = ts.arange(12, dtype=ts.float32).reshape(2, 2, 3)
    assert ts.bmm(x, x.mT).tolist() == [[[5.0, 14.0], [14.0, 50.0]], [[149.0, 212.0], [212.0, 302.0]]]
    assert ts.addmm(ts.tensor([1.0, 2.0]), x[0], x[1].t()).tolist() == [[24.0, 34.0], [87.0, 124.0]]
    assert ts.addmm(ts.tensor([[1.0], [2.0]]), x[0], x[1].t(), alpha=2, beta=3).tolist() == [
        [49.0, 67.0],
        [178.0, 250.0],
    ]
    a = numbers((2, 5, 3, 40), "f")
    for given in (ts.from_numpy(a), ts.from_numpy(a).transpose(1, 2), ts.from_numpy(a)[:, ::2]):
        assert np.array_equal(
            ts.matmul(given, given.mT).numpy(), np.matmul(given.numpy(), given.numpy().swapaxes(-1, -2))
        )
    assert ts.matmul(ts.ones(2, 0, 3, 4), ts.ones(2, 0, 4, 5)).shape == (2, 0, 3, 5)
    assert ts.matmul(ts.ones(2, 2, 3, 0), ts.ones(2, 2, 0, 5)).sum() == 0
    weights = ts.nn.functional.scaled_dot_product_attention(*(ts.ones(1, 2, 3, 4) for _ in range(3)))
    assert weights.tolist() == ts.ones(1, 2, 3, 4).tolist()
    with pytest.raises(RuntimeError):
        ts.bmm(ts.ones(2, 3, 4), ts.ones(3, 4, 5))


def test_mm_takes_matrices_only():
    with pytest.raises(RuntimeError, match="self must be a matrix"):
        ts.mm(ts.ones(2, 3, 4), ts.ones(2, 4, 5))
    with pytest.raises(RuntimeError, match="batch1 must be a 3D tensor"):
        ts.bmm(ts.ones(3, 4), ts.ones(2, 4, 5))


@pytest.mark.parametrize("dtype", [ts.float32, ts.float64, ts.complex64])
def test_all_calls_of_a_product_have_equal_bits(dtype):
    """Products in eager mode, with `out=`, in place and in scripts have equal bits."""
    ts.manual_seed(3)
    x, y, bias = (ts.randn(*shape).to(dtype) for shape in ((4, 7, 5), (4, 5, 6), (6,)))
    for name, arguments in {
        "bmm": (x, y),
        "matmul": (x, y[0]),
        "mm": (x[0], y[0]),
        "addmm": (bias, x[0], y[0]),
        "baddbmm": (bias, x, y),
    }.items():
        function = getattr(ts, name)
        result = function(*arguments)
        assert ts.equal(result, function(*arguments, out=ts.empty(0, dtype=dtype))), name
        scripted = ts.jit.CompilationUnit(
            f"def f({', '.join('abc'[: len(arguments)])}):\n"
            f"    return torch.{name}({', '.join('abc'[: len(arguments)])})\n"
        )
        assert ts.equal(result, scripted.f(*arguments)), name
    start = bias.expand(4, 7, 6).clone()
    assert ts.equal(start.clone().baddbmm_(x, y, beta=2), ts.baddbmm(start, x, y, beta=2))


@pytest.mark.parametrize("shape", [(6,), (1,), (), (1, 6), (7, 6), (7, 1)])
def test_summands_broadcast(shape):
    bias, x, y = ts.randn(shape), ts.randn(7, 5), ts.randn(5, 6)
    assert ts.allclose(ts.addmm(bias, x, y, beta=0.5, alpha=2), 0.5 * bias + 2 * (x @ y), atol=1e-5)


@pytest.mark.parametrize("equation", ["bij,bjk->bik", "bij->bi", "bij,bjk,bk->i"])
@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16])
def test_einsum_of_16_bit_floats(equation, dtype):
    """`einsum` of 16-bit floats accumulates in float32 and rounds once."""
    operands = [ts.arange(24.0).view(2, 3, 4) / 8, ts.arange(40.0).view(2, 4, 5) / 8, ts.ones(2, 5)][
        : equation.count(",") + 1
    ]
    result = ts.einsum(equation, [x.to(dtype) for x in operands])
    assert result.dtype is dtype
    assert result.tolist() == ts.einsum(equation, operands).to(dtype).tolist()


def random_batch(rng, batch, rows, columns, dtype):
    """Return a batch of matrices that broadcasts to `batch`, with random dimension order and strides."""
    batch_dims = [n if rng.random() < 0.7 else 1 for n in batch[rng.integers(0, len(batch) + 1) :]]
    x = rng.integers(-4, 5, [*batch_dims, rows, columns]).astype(dtype)
    order = rng.permutation(x.ndim)
    step = int(rng.integers(1, 3))
    y = np.zeros([step * x.shape[d] for d in order], dtype)[tuple(slice(None, None, step) for _ in order)]
    y = y.transpose(np.argsort(order))
    y[...] = x
    return y


@pytest.mark.parametrize("dtype", ["f", "d", "F", "e"])
def test_stacks_that_broadcast(dtype):
    """Broadcast batched products of small integers are exact for any dimension order and size."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        batch = list(rng.integers(1, 4, rng.integers(0, 4)))
        m, k, n = rng.integers(1, 40 if rng.random() < 0.2 else 5, 3)
        a, b = random_batch(rng, batch, m, k, dtype), random_batch(rng, batch, k, n, dtype)
        result = ts.matmul(ts.from_numpy(a), ts.from_numpy(b))
        assert result.is_contiguous()
        assert np.array_equal(result.numpy(), np.matmul(a, b)), (a.shape, a.strides, b.shape, b.strides)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_short_floats_are_rounded_once(name):
    """Products and sums of 16-bit floats round once, from subnormal to infinite numbers."""
    dtype = getattr(ts, name)
    rng = np.random.default_rng(0)
    a, b, c = (
        ts.tensor(rng.standard_normal(40_000) * 10.0 ** rng.integers(-6, 4, 40_000)).to(dtype)
        for _ in range(3)
    )
    exact = a.float() * b.float()
    result = ts.bmm(a.view(-1, 1, 1), b.view(-1, 1, 1)).view(-1)
    assert ts.equal(result, exact.to(dtype))
    assert float(result.float().abs().max()) == float("inf") or name == "bfloat16"
    summed = ts.baddbmm(c.view(-1, 1, 1), a.view(-1, 1, 1), b.view(-1, 1, 1)).view(-1)
    # A fused multiply-add rounds once less.
    near = (exact.double() + c.double()).to(dtype)
    assert float((summed == near).float().mean()) > 0.999
