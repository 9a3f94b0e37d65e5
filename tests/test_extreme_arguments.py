"""Extreme sizes, degrees and exponents, whose computation must not iterate over their values."""

import math

import pytest

import ts
from ts._core.value.int_range import fits_64_bits

INT64_MAX = (1 << 63) - 1


@pytest.mark.parametrize("degree", [7, 1000, 1 << 40])
def test_chebyshev_polynomials_of_high_degree(degree):
    """T[n](cos t) equals cos(n t); T[n](1) is 1 and T[n](-1) is (-1)^n."""
    angle = 0.75
    x = ts.tensor([math.cos(angle), 1.0, -1.0], dtype=ts.float64)
    got = ts.special.chebyshev_polynomial_t(x, degree).tolist()
    assert got[1:] == [1.0, (-1.0) ** degree]
    if degree < 1 << 40:
        assert got[0] == pytest.approx(math.cos(degree * angle), abs=1e-9)


def test_legendre_and_laguerre_polynomials_of_high_degree():
    """P[n](0) is (-1)^m (2m)! / (4^m m!^2) for n = 2m; the asymptotic formulas agree with the recurrence."""
    m = 50_000
    size = math.exp(math.lgamma(2 * m + 1) - 2 * m * math.log(2) - 2 * math.lgamma(m + 1))
    zero = ts.zeros(1, dtype=ts.float64)
    assert ts.special.legendre_polynomial_p(zero, 2 * m).item() == pytest.approx(size, rel=1e-4)
    assert ts.special.legendre_polynomial_p(zero + 1, INT64_MAX // 2).item() == 1
    x = ts.tensor([0.3, 2.0], dtype=ts.float64)
    before, after = (ts.special.laguerre_polynomial_l(x, n) for n in ((1 << 16), (1 << 16) + 1))
    assert ts.allclose(before, after, rtol=0, atol=2e-3)
    assert ts.special.hermite_polynomial_h(x, 1 << 60).isnan().all()


def test_integers_that_overflow_the_count_of_bins():
    with pytest.raises(RuntimeError, match="maximum value of input overflowed"):
        ts.bincount(ts.tensor([INT64_MAX]))
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        ts.bincount(ts.tensor([1]), minlength=INT64_MAX)


def test_matrix_powers():
    """Matrix powers use squaring (63 steps for the largest exponent); negative powers use the inverse."""
    x = ts.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert ts.equal(ts.linalg.matrix_power(x, INT64_MAX), x)
    assert ts.equal(ts.linalg.matrix_power(x, -INT64_MAX - 1), ts.eye(2))
    assert ts.equal(ts.linalg.matrix_power(2 * ts.eye(2), -2), ts.eye(2) / 4)


@pytest.mark.parametrize(
    "make",
    [lambda: ts.empty_strided([2], [-1]), lambda: ts.empty_strided([1 << 40], [1 << 40]), lambda: ts.diag(ts.ones(2), 1 << 40)],
)
def test_storage_too_large(make):
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        make()


def test_unavailable_memory():
    with pytest.raises(RuntimeError, match=r"can't allocate memory: you tried to allocate 36028797018963968 bytes"):
        ts.ones(1 << 53)


def test_triangles_and_diagonals_outside_the_matrix():
    x = ts.ones(2, 3)
    assert ts.equal(ts.tril(x, -INT64_MAX - 1), 0 * x) and ts.equal(ts.tril(x, INT64_MAX), x)
    assert ts.equal(ts.triu(x, INT64_MAX), 0 * x) and ts.diag(x, INT64_MAX).shape == (0,)
    assert ts.tril_indices(2, 3, -INT64_MAX - 1).shape == (2, 0)
    for function in (ts.tril_indices, ts.triu_indices):
        with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
            function(2**31, 2**31)
    assert x.unfold(1, 2, INT64_MAX).tolist() == [[[1.0, 1.0]], [[1.0, 1.0]]]


def test_rounding_to_too_many_places():
    assert ts.round(ts.ones(2), decimals=INT64_MAX).isnan().all()


@pytest.mark.parametrize(
    "compute",
    [
        lambda x, mask: ts.where(mask, x, 300),
        lambda x, mask: x.clamp(max=300),
        lambda x, mask: x.masked_fill(mask, 300),
        lambda x, mask: x.pow(300),
        lambda x, mask: ts.add(x, x, alpha=300),
        lambda x, mask: ts.nn.functional.pad(x, (1, 1), value=300),
    ],
)
def test_numbers_that_the_dtype_cannot_hold(compute):
    with pytest.raises(RuntimeError, match="value cannot be converted to type int8_t without overflow"):
        compute(ts.tensor([1, 2], dtype=ts.int8), ts.tensor([True, False]))


def test_signs_of_zeros():
    """Results of zero keep the sign of the argument, or of the dividend."""
    zeros = ts.tensor([0.0, -0.0])
    assert ts.erfinv(zeros).signbit().tolist() == [False, True]
    assert ts.remainder(zeros, -2.0).signbit().tolist() == [False, True]
    assert zeros.bfloat16().signbit().tolist() == [False, True]


def test_parts_of_the_largest_number():
    """Extreme split sizes and counts cause no 64-bit overflow."""
    x = ts.arange(3.0)
    assert [part.tolist() for part in x.split(INT64_MAX)] == [[0, 1, 2]]
    assert [part.tolist() for part in x.chunk(INT64_MAX)] == [[0], [1], [2]]
    assert ts.ops.aten.slice(x, 0, 0, 3, INT64_MAX).tolist() == [0]
    for function in (ts.zeros(0).chunk, ts.zeros(0).tensor_split):
        with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
            function(INT64_MAX)


def test_overflowing_repeat_counts():
    """Repeat counts whose sum overflows raise an error; repeats of empty tensors take constant time."""
    counts = ts.tensor([1 << 62] * 4)
    for function in (ts.repeat_interleave, ts.ones(4).repeat_interleave, ts.ones(4, 1).repeat_interleave):
        with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
            function(counts)
    assert ts.ones(4, 0).repeat_interleave(counts // 4 // 1024, 0).shape == (1 << 52, 0)
    assert ts.ones(4, 0).repeat_interleave(1 << 50, 0).shape == (1 << 52, 0)


@pytest.mark.parametrize("count", [1 << 42, 1 << 62, INT64_MAX])
def test_memory_errors_have_a_location(count):
    """The error for a list that does not fit in memory is a MemoryError with the location in the script."""
    @ts.jit.script
    def zeros(n: int):
        return [0] * n

    with pytest.raises(MemoryError, match=r"return \[0\] \* n\n *~+ <--- HERE\nMemoryError: not enough memory"):
        zeros(count)


@pytest.mark.parametrize("number", [2**64, 10**30, -(2**63) - 1])
@pytest.mark.parametrize(
    "call",
    [
        lambda x, n: x + n, lambda x, n: n - x, lambda x, n: x == n, lambda x, n: x < n, lambda x, n: x.mul_(n),
        lambda x, n: ts.add(x, n), lambda x, n: x.div(n), lambda x, n: ts.where(x == x, n, x), lambda x, n: x.fill_(n),
        lambda x, n: ts.full((1,), n), lambda x, n: ts.clamp(x, n), lambda x, n: ts.add(x, x, alpha=n),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [ts.int64, ts.float32])
def test_numbers_outside_of_64_bits_raise_overflow_errors(call, number, dtype):
    """An int operand that fits in neither int64 nor uint64 raises PyTorch's error instead of wrapping around."""
    expected = "int too big to convert" if number > 0 else "can't convert negative int to unsigned"
    with pytest.raises(OverflowError, match=expected):
        call(ts.ones(1, dtype=dtype), number)


def test_numbers_of_uint64():
    assert (ts.tensor([1.0]) + (2**64 - 1)).item() == 2.0**64
    assert (ts.tensor([1]) - 2**63).dtype is ts.int64


def test_range_of_64_bit_ints():
    """The range test of int arguments includes the limits of int64 and uint64."""
    limits = (-(2**63) - 1, -(2**63), 2**63 - 1, 2**63, 2**64 - 1, 2**64)
    assert [fits_64_bits(n) for n in limits] == [False, True, True, True, True, False]
    assert [fits_64_bits(n, unsigned=False) for n in limits] == [False, True, True, False, False, False]
    x, y = ts.zeros(1, dtype=ts.int64), ts.zeros(1, dtype=ts.uint64)
    y[0] = 2**64 - 1
    assert y.item() == 2**64 - 1
    for target, number in ((x, 2**63), (y, 2**64), (x, -(2**63) - 1)):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            target[0] = number
