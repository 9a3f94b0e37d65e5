"""Special functions and transforms without SciPy: accuracy and special values."""

import math
import subprocess
import sys

import numpy as np
import pytest

import ts
from ts.backends.cpu.kernels.special import UFUNCS

EULER = 0.5772156649015329


@pytest.mark.parametrize(
    "name, function",
    [("erf", math.erf), ("erfc", math.erfc), ("gammaln", math.lgamma)],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_equal_the_c_library(name, function, dtype):
    """Special functions equal the C library's to a few ulps, also for strided tensors."""
    x = np.linspace(0.1, 4, 79).astype(dtype)[::2]
    expected = np.array([function(v) for v in x.tolist()])
    assert np.allclose(UFUNCS[name](x), expected, rtol=4 * np.finfo(dtype).eps, atol=1e-15)


def test_inverse_error_function():
    """`erfinv` inverts erf, is odd, and is infinite at the ends."""
    x = ts.linspace(-3, 3, 41, dtype=ts.float64)
    assert (x.erf().erfinv() - x).abs().max() < 1e-12
    assert ts.tensor([1.0, -1.0, 0.0]).erfinv().tolist() == [math.inf, -math.inf, 0.0]
    assert ts.tensor([1.5, math.nan]).erfinv().isnan().all()
    # in the tail, 1 - x has few digits: erfc(5) = 1.5374597944280349e-12
    assert float(ts.special.ndtri(ts.tensor(1.5374597944280349e-12 / 2, dtype=ts.float64))) == pytest.approx(
        -5 * math.sqrt(2), rel=1e-14
    )


@pytest.mark.parametrize(
    "x, value",
    [
        (1.0, -EULER),
        (0.5, -EULER - 2 * math.log(2)),
        (-0.5, -EULER - 2 * math.log(2) + 2),
        (20.0, sum(1 / k for k in range(1, 20)) - EULER),
        (0.0, -math.inf),
        (-0.0, math.inf),
        (-1e-30, 1e30),
        (math.inf, math.inf),
    ],
)
def test_digamma(x, value):
    assert float(ts.tensor(x, dtype=ts.float64).digamma()) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("x", [-1e-3, 0.02, 0.7, 1.0, 1.9, 2.5, 5.9, 6.0, 11.9, 12.1, 300.0, -2.25, -17.3])
def test_digamma_satisfies_its_recurrence(x):
    """psi(x + 1) = psi(x) + 1 / x, in float32 to a few ulps of the largest term."""
    x = ts.tensor(x)
    ours, exact = (x + 1).digamma(), x.double().digamma() + 1 / x.double()
    assert abs(float(ours) - float(exact)) <= 3e-7 * (abs(float(exact)) + abs(1 / float(x)))


@pytest.mark.parametrize(
    "x, value",
    [
        (0.0, 1.0),
        (1.0, 1.2660658777520083356),
        (-2.5, 3.2898391440501230357),
        (7.999, 427.16443131520271435),
        (8.0, 427.56411572180478518),
        (20.0, 43558282.559553533272),
        (500.0, 2.5048094765700780966e215),
    ],
)
def test_modified_bessel_function(x, value):
    """The values are those of mpmath."""
    assert float(ts.special.i0(ts.tensor(x, dtype=ts.float64))) == pytest.approx(value, rel=4e-15)
    assert float(ts.special.i0(ts.tensor(x))) == pytest.approx(value if value < 1e38 else math.inf, rel=2e-7)
    if x < math.inf:
        assert float(ts.special.i0e(ts.tensor(x, dtype=ts.float64))) == pytest.approx(value * math.exp(-abs(x)), rel=4e-15)
    assert ts.tensor([math.nan, math.inf, -math.inf]).i0().isnan().all()  # as in PyTorch


def test_digamma_has_poles():
    assert ts.tensor([-1.0, -7.0, math.nan, -math.inf]).digamma().isnan().all()


def test_products_with_a_logarithm():
    """Products with a logarithm are 0 for a zero factor, except with NaN."""
    x, y = ts.tensor([0.0, 0.0, 2.0]), ts.tensor([0.0, math.nan, math.e])
    assert ts.xlogy(x, y).nan_to_num(-1).tolist() == [0.0, -1.0, pytest.approx(2.0)]
    assert ts.special.entr(ts.tensor([0.0, 1.0, -1.0])).tolist() == [0.0, 0.0, -math.inf]


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_exponential_of_matrices(size):
    """The exponential of a rotation generator is the rotation; matrices of a batch are scaled separately."""
    turns = ts.tensor([[[0.0, -size], [size, 0.0]], [[0.0, -1.0], [1.0, 0.0]]], dtype=ts.float64)
    actual = ts.matrix_exp(turns)
    for k, angle in enumerate((size, 1.0)):
        expected = ts.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        assert (actual[k] - expected.double()).abs().max() < 1e-6
    assert ts.matrix_exp(ts.full((2, 2), math.inf)).isnan().any()
    assert ts.matrix_exp(ts.zeros(0, 3, 3)).shape == (0, 3, 3)


def test_without_scipy():
    """GELU, error functions, Fourier transforms and `matrix_exp` do not need SciPy."""
    code = """
import sys
sys.modules["scipy"] = None
import ts
x = ts.tensor([0.0, 1.0, 2.0, 4.0])
print(ts.nn.GELU()(x)[1].item(), ts.lgamma(x)[3].item(), ts.erfinv(x / 8)[0].item())
f = ts.fft
print(f.fft(x).dtype, f.rfft(x).tolist(), f.irfft(f.rfft(x)).tolist())
y = x.reshape(2, 2)
for name in ("fft2", "ifft2", "rfft2", "ihfft2"):
    print(name, getattr(f, name)(y).flatten().tolist())
print(f.hfft2(y.to(ts.complex64), norm="ortho").dtype, f.irfft2(f.rfft2(y), s=(2, 2)).tolist())
print(ts.stft(x, 4, window=ts.ones(4), center=False, return_complex=True).shape, ts.matrix_exp(ts.zeros(1, 1)))
print(ts.nn.functional.kl_div(x[1:].log(), x[1:], reduction="sum").item())
try:
    ts.special.i1(x)
except ImportError as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = result.stdout.splitlines()
    gelu, lgamma, erfinv = map(float, lines[0].split())
    assert gelu == pytest.approx(0.5 * (1 + math.erf(0.5**0.5)), rel=2e-7)
    assert lgamma == pytest.approx(math.log(6), rel=2e-7) and erfinv == 0
    assert lines[1] == "torch.complex64 [(7+0j), (-2+3j), (-3+0j)] [0.0, 1.0, 2.0, 4.0]"
    assert lines[2:6] == [
        "fft2 [(7+0j), (-3+0j), (-5+0j), (1+0j)]",
        "ifft2 [(1.75+0j), (-0.75+0j), (-1.25+0j), (0.25+0j)]",
        "rfft2 [(7+0j), (-3+0j), (-5+0j), (1+0j)]",
        "ihfft2 [(1.75-0j), (-0.75-0j), (-1.25-0j), (0.25-0j)]",
    ]
    assert lines[6].startswith("torch.float32 [[0.0, 1.0], [2.0, 4.0]]")
    assert lines[7:9] == ["torch.Size([3, 1]) tensor([[1.]])", "0.0"]
    assert lines[9] == "this operator needs SciPy's `special`: pip install scipy"


def test_transforms_agree_with_scipy():
    """Fourier transforms without SciPy equal SciPy's up to rounding."""
    scipy_fft = pytest.importorskip("scipy.fft")
    from ts.backends.cpu.namespace import NumpyTransforms

    x = np.random.default_rng(0).normal(size=(3, 4, 6))
    for norm in (None, "forward", "backward", "ortho"):
        for name in ("fftn", "rfftn", "ihfftn", "hfftn", "irfftn"):
            given = x + 1j * x[::-1] if name in ("hfftn", "irfftn", "fftn") else x
            for lengths, axes in ((None, (0, 2)), ([3, 5], (2, 1))):
                result = getattr(NumpyTransforms(), name)(given, lengths, axes, norm)
                assert np.allclose(result, getattr(scipy_fft, name)(given, lengths, axes, norm))
