"""bfloat16 matrix products: rounding bounds for every layout, special values, threads, and cached weights."""

import itertools

import pytest

import ts
from tests.bfloat16_helpers import algorithm as algorithm
from tests.bfloat16_helpers import randn
from ts.backends.cpu.kernels import bfloat16_microkernels, packed_operand_cache

INF, NAN = float("inf"), float("nan")
linear = ts.nn.functional.linear


def transposed(*shape):
    return randn(*shape[:-2], shape[-1], shape[-2]).transpose(-1, -2)


def strided(*shape):
    """Return a tensor without a contiguous dimension among the last two."""
    return randn(*shape[:-1], 2 * shape[-1])[..., ::2]


def assert_rounded(result, a, b, summand=None, alpha=1.0, beta=1.0):
    """Check a product against float64: one bfloat16 rounding, and float32 roundings of k + 2 terms.

    AVX512_BF16 replaces subnormal float32 sums (below 2**-126) by zero.
    """
    a, b = a.double(), b.double()
    expected, magnitude = alpha * (a @ b), abs(alpha) * (a.abs() @ b.abs())
    if summand is not None:
        expected, magnitude = (
            expected + beta * summand.double(),
            magnitude + abs(beta) * summand.double().abs(),
        )
    depth = a.shape[-1]
    bound = expected.abs() * 2.0**-8 + magnitude * (depth + 2) * 2.0**-23 + depth * 2.0**-126
    assert result.dtype == ts.bfloat16
    assert result.shape == expected.shape
    assert bool(((result.double() - expected).abs() <= bound).all())


SIZES = [1, 2, 3, 5, 6, 7, 17, 64, 65]


@pytest.mark.parametrize("depth", [1, 2, 3, 31, 32, 33, 130])
def test_products_of_all_layouts_are_rounded_once(algorithm, depth):
    ts.manual_seed(0)
    for rows, columns in itertools.product(SIZES, SIZES):
        for left, right in itertools.product((randn, transposed), repeat=2):
            a, b = left(rows, depth), right(depth, columns)
            assert_rounded(a @ b, a, b)
        a, weight, bias = randn(rows, depth), randn(columns, depth), randn(columns)
        assert_rounded(linear(a, weight, bias), a, weight.t(), bias)


def test_strided_and_offset_operands(algorithm):
    ts.manual_seed(1)
    for a, b in [
        (strided(9, 20), strided(20, 33)),
        (randn(9, 20)[:, 1:], randn(19, 40)[:, 3:36]),
        (randn(2, 20)[:, 3:20], randn(33, 21)[:, 1:18].t()),
        (randn(1, 7).expand(5, 7), randn(7, 1).expand(7, 20)),
        (randn(20, 5)[1:].t(), randn(19, 3)),
    ]:
        assert_rounded(ts.mm(a, b), a, b)


def test_scaled_products_with_a_summand(algorithm):
    ts.manual_seed(2)
    a, b = randn(13, 33), randn(33, 70)
    for summand in (randn(13, 70), randn(70), randn(13, 1), randn(1, 1), transposed(13, 70), randn(140)[::2]):
        for alpha, beta in [(1, 1), (2, 0.5), (-0.5, 3)]:
            assert_rounded(ts.addmm(summand, a, b, alpha=alpha, beta=beta), a, b, summand, alpha, beta)
    nans = ts.full((13, 70), NAN, dtype=ts.bfloat16)
    assert_rounded(ts.addmm(nans, a, b, beta=0), a, b)
    a, b, summand = randn(3, 6, 33), randn(3, 33, 20), randn(3, 6, 20)
    assert_rounded(ts.baddbmm(summand, a, b, alpha=2, beta=0.5), a, b, summand, 2, 0.5)
    assert_rounded(ts.baddbmm(summand[:, :1], a, b), a, b, summand[:, :1])


def test_stacks_of_matrices(algorithm):
    ts.manual_seed(3)
    for a, b in [
        (randn(7, 12, 9), randn(7, 9, 20)),
        (randn(7, 12, 9), transposed(7, 9, 20)),
        (randn(2, 3, 5, 8), randn(3, 8, 6)),
        (randn(2, 1, 5, 8), randn(3, 8, 6)),
        (randn(2, 3, 5, 8), randn(8, 70)),
        (randn(2, 6, 3, 8).transpose(1, 2), randn(2, 6, 3, 8).permute(0, 2, 3, 1)),
    ]:
        assert_rounded(ts.matmul(a, b), a, b)


def test_empty_operands(algorithm):
    assert ts.mm(randn(0, 3), randn(3, 4)).shape == (0, 4)
    assert ts.mm(randn(2, 3), randn(3, 0)).shape == (2, 0)
    assert ts.mm(randn(2, 0), randn(0, 3)).tolist() == [[0.0] * 3] * 2
    assert linear(randn(2, 0), randn(3, 0), ts.ones(3, dtype=ts.bfloat16)).tolist() == [[1.0] * 3] * 2
    assert ts.bmm(randn(0, 2, 3), randn(0, 3, 4)).shape == (0, 2, 4)


@pytest.mark.parametrize("rows", [2, 9])
def test_infinities_and_nans_stay_in_their_rows_and_columns(algorithm, rows):
    a, b = ts.ones(rows, 5, dtype=ts.bfloat16), ts.ones(5, 19, dtype=ts.bfloat16)
    a[1, 4] = INF
    b[4, 18] = -INF
    b[0, 17] = NAN
    for right in (b, b.t().contiguous().t()):
        result = a @ right
        assert result[0].tolist()[:17] == [5.0] * 17
        assert result[1].tolist()[:17] == [INF] * 17
        assert result[:, 17].isnan().all()
        assert result[:, 18].tolist() == [-INF] * rows
    a[1, 4], b[4, 18] = INF, 0.0
    assert bool((a @ b)[1, 18].isnan())
    large = ts.full((rows, 4), 3e38, dtype=ts.bfloat16)
    assert (large @ large.t()).tolist() == [[INF] * rows] * rows


def test_a_sum_is_rounded_to_the_nearest_even_number(algorithm):
    a = ts.tensor([[1.0, 2.0**-8], [1.0, 3 * 2.0**-8], [1.0, 2.0**-8 + 2.0**-16]], dtype=ts.bfloat16)
    b = ts.ones(2, 1, dtype=ts.bfloat16)
    assert (a @ b).flatten().tolist() == [1.0, 1 + 2.0**-6, 1.0]
    summand = ts.full((3, 1), 2.0**-14, dtype=ts.bfloat16)  # added before the product is rounded
    assert ts.addmm(summand, a, b).flatten().tolist() == [1 + 2.0**-7, 1 + 2.0**-6, 1 + 2.0**-7]


def test_long_sums_are_accumulated_in_float32(algorithm):
    ones = ts.ones(5, 4096, dtype=ts.bfloat16)
    for rows in (1, 5):
        assert (ones[:rows] @ ones.t()).tolist() == [[4096.0] * 5] * rows


def test_bits_do_not_depend_on_threads_or_cached_weights(algorithm):
    ts.manual_seed(4)
    threads = ts.get_num_threads()
    products = [
        (linear, randn(300, 333), randn(700, 333)), (linear, randn(2, 1500), randn(1000, 1500)), (ts.bmm, randn(9, 100, 65), randn(9, 65, 90)),
        (ts.mm, transposed(200, 300), randn(300, 500)),
    ]  # fmt: skip
    try:
        for function, a, b in products:
            results = []
            for count in (1, 2, 3, 4):
                ts.set_num_threads(count)
                results.append(function(a, b))  # the first call uses an operand that is not cached
            assert all(ts.equal(result, results[0]) for result in results)
    finally:
        ts.set_num_threads(threads)


@pytest.mark.parametrize("dtype", [ts.float16, ts.bfloat16], ids=str)
def test_few_rows_times_a_converted_weight(dtype):
    """The weight is converted in blocks of columns. The bits are those of the float32 product, for every number of threads."""
    ts.manual_seed(7)
    before, threads = bfloat16_microkernels.use_bfloat16_tiles(False), ts.get_num_threads()
    try:
        for rows, depth, columns in itertools.product((1, 2, 4), (16, 31, 600), (15, 16, 17, 47, 700)):
            a, weight, bias = (
                ts.randn(*shape).to(dtype) for shape in ((rows, depth), (columns, depth), (columns,))
            )
            for left, row in ((a, None), (a, bias), (a[:, None], bias), (ts.cat([a, a], 1)[:, ::2], None)):
                expected = linear(left.float(), weight.float(), None if row is None else row.float()).to(
                    dtype
                )
                for count in (1, 3):
                    ts.set_num_threads(count)
                    assert ts.equal(linear(left, weight, row), expected)
    finally:
        ts.set_num_threads(threads)
        bfloat16_microkernels.use_bfloat16_tiles(before)


def test_weights_are_packed_once_and_again_after_a_write():
    if not bfloat16_microkernels.use_bfloat16_tiles(True):
        pytest.skip("this processor or SIMD level has no AVX512_BF16")
    ts.manual_seed(5)
    packed_operand_cache.clear()
    a, row, weight = randn(9, 64), randn(2, 64), randn(80, 64)
    columns = weight.clone().t()
    results = [linear(a, weight) for _ in range(3)]
    assert packed_operand_cache.cache_size() == (1, 80 * 64 * 2)
    for result in results:
        assert_rounded(result, a, columns)
    weight.mul_(2)
    assert_rounded(linear(a, weight), a, 2 * columns)
    packed_operand_cache.clear()
    results = [linear(row, weight) for _ in range(3)]  # few rows need no packed weight
    assert packed_operand_cache.cache_size() == (0, 0)
    for result in results:
        assert_rounded(result, row, 2 * columns)


def test_gradients_of_linear(algorithm):
    ts.manual_seed(6)
    a, weight = randn(20, 33).requires_grad_(), randn(17, 33).requires_grad_()
    grad = randn(20, 17)
    linear(a, weight).backward(grad)
    assert_rounded(a.grad, grad, weight.detach())
    assert_rounded(weight.grad, grad.t(), a.detach())
