"""Expressions with PyTorch's values, dtypes and shapes, or the beginning of PyTorch's error.

Each line of the tables below is evaluated with either package as `torch`, with the names of its table.
"""

import math
import re
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import ts  # noqa: E402

TABLES = {
    "gradient": (
        "x = torch.tensor([[1.0, 2, 4], [3, 9, 1]]); v = torch.tensor([1, 2, 4, 7])",
        """
        torch.gradient(v)
        torch.gradient(v.half())
        torch.gradient(v.bfloat16())
        torch.gradient(v.to(torch.uint8))
        torch.gradient(v.bool())
        torch.gradient(v.to(torch.complex64))
        torch.gradient(x, spacing=2)
        torch.gradient(x, spacing=2, dim=1)
        torch.gradient(x, spacing=[2.0, 3.0])
        torch.gradient(x, spacing=[2.0, 3.0], dim=0)
        torch.gradient(x, spacing=[torch.tensor([0.0, 1, 3])], dim=1)
        torch.gradient(x, spacing=(torch.tensor([0.0, 1, 3]),), edge_order=2, dim=1)
        torch.gradient(x, edge_order=2, dim=1)
        torch.gradient(x, edge_order=2)
        torch.gradient(x, edge_order=3)
        torch.gradient(x, dim=(0, 0))
        torch.gradient(x, dim=5)
        torch.gradient(x, spacing=[0.1], dim=(0, 1))
        torch.gradient(x, spacing=[torch.tensor([[1.0, 2]])], dim=1)
        torch.gradient(x, spacing=[1.0, 2.0, 3.0])
        torch.gradient(x.int(), spacing=2.5, dim=1)
        """,
    ),
    "histogram": (
        "x = torch.tensor([1.0, 2, 1, 4, 5]); y = torch.tensor([[0.0, 1], [1, 0], [2, 0], [2, 2]])",
        """
        torch.histogram(x, 3)
        torch.histogram(x, bins=3, range=(0.0, 4.0), weight=torch.arange(5.0))
        torch.histogram(x, torch.tensor([0.0, 2, 5]), density=True)
        torch.histogram(x, 0)
        torch.histogram(x, 3, range=(4.0, 1.0))
        torch.histogram(x, 3, range=(4.0,))
        torch.histogram(x, 3, range=(1.0, 1.0))
        torch.histogram(x, 3, weight=torch.ones(2))
        torch.histogram(x, 3, weight=torch.ones(5).double())
        torch.histogram(x.int(), 3)
        torch.histogram(torch.empty(0), 3)
        torch.histogram(torch.ones(3), 2)
        torch.histogram(x, torch.tensor([[0.0, 2, 5]]))
        torch.histogram(x, torch.tensor([0.0, 2, 5]).double())
        torch.histogram(x, torch.tensor([]))
        torch.histogram(torch.tensor([1.0, math.nan]), 2)
        torch.histogram(torch.tensor([1.0, math.nan]), 2, range=(0.0, 1.0))
        torch.histogramdd(y, bins=[3, 3], weight=torch.tensor([1.0, 2, 4, 8]))
        torch.histogramdd(y, bins=2)
        torch.histogramdd(y, bins=[torch.tensor([0.0, 1, 2]), torch.tensor([0.0, 2])], density=True)
        torch.histogramdd(y, bins=[2, 2], range=[0.0, 1.0, 0.0, 1.0])
        torch.histogramdd(y, [2, 2, 2])
        torch.histogramdd(y, [2, 2], range=[0.0, 1.0])
        torch.histogramdd(y[0], [2])
        """,
    ),
    "least squares": (
        "A = torch.tensor([[1.0, 2], [3, 4], [5, 7]]); B = torch.tensor([[1.0], [2], [4]])",
        "".join(
            f"""
        torch.linalg.lstsq(A, B, driver={driver!r})
        torch.linalg.lstsq(A.T, B[:2], driver={driver!r})
        torch.linalg.lstsq(torch.ones(3, 2), B, driver={driver!r})
        """
            for driver in (None, "gels", "gelsd", "gelss", "wrong")
        )
        + """
        torch.linalg.lstsq(A, B[:, 0])
        torch.linalg.lstsq(A, B[:2])
        torch.linalg.lstsq(A, B.double())
        torch.linalg.lstsq(A.int(), B.int())
        torch.linalg.lstsq(A[0], B)
        torch.linalg.lstsq(torch.empty(0, 2), torch.empty(0, 1))
        torch.linalg.lstsq(A, B, rcond=0.5, driver="gelsd")
        torch.linalg.lstsq(A[None].expand(2, 3, 2), torch.ones(2, 3))
        """,
    ),
    "ldl": (
        "S = torch.tensor([[4.0, 1, 2], [1, 3, 0], [2, 0, -1]]); LD, p = torch.linalg.ldl_factor(S)",
        """
        torch.linalg.ldl_factor(S)
        torch.linalg.ldl_factor_ex(S.double())
        torch.linalg.ldl_factor_ex(torch.zeros(2, 2))
        torch.linalg.ldl_factor(torch.tensor([[0.0, 1], [1, 0]]))
        torch.linalg.ldl_factor(torch.tensor([[0.0, 1j], [1, 0]]), hermitian=True)
        torch.linalg.ldl_factor(S[None].expand(2, 3, 3))
        torch.linalg.ldl_factor(S[:2])
        torch.linalg.ldl_factor(S.int())
        torch.linalg.ldl_factor(S[0])
        torch.linalg.ldl_factor(S.half())
        torch.linalg.ldl_solve(LD, p, torch.eye(3))
        torch.linalg.ldl_solve(LD, p, torch.ones(2, 1))
        torch.linalg.ldl_solve(LD, p, torch.ones(2, 3, 1))
        torch.linalg.ldl_solve(LD, p, torch.ones(3, 1).double())
        """,
    ),
    "spectra": (
        "x = torch.arange(20.0); w = torch.hann_window(8); X = torch.stft(x, 8, window=w, return_complex=True)",
        """
        torch.stft(x, 8)
        x.stft(8, return_complex=False)
        torch.stft(x, 8, return_complex=True)
        torch.stft(x.int(), 8, return_complex=True)
        torch.stft(x + 0j, 8)
        torch.stft(x, 8, window=w, onesided=False, return_complex=True)
        torch.stft(x, 8, window=w + 0j, return_complex=True)
        torch.stft(x, 8, 3, 5, window=w[:5], normalized=True, return_complex=True)
        torch.stft(x, 30, center=False, return_complex=True)
        torch.stft(x, 8, win_length=4, window=w, return_complex=True)
        torch.stft(x, 8, hop_length=0, return_complex=True)
        torch.stft(x, 8, win_length=9, return_complex=True)
        torch.stft(x, 8, pad_mode="constant", return_complex=True)
        torch.stft(x, 8, pad_mode="foo", return_complex=True)
        torch.stft(torch.ones(2, 2, 20), 8, return_complex=True)
        torch.stft(torch.ones(2, 20), 8, return_complex=True)
        torch.stft(x, 8, onesided=True, return_complex=True, window=w + 0j)
        torch.istft(X, 8, window=w)
        X.istft(8, window=w, length=30)
        torch.istft(X, 8)
        torch.istft(X, 8, window=w, center=False)
        torch.istft(X, 8, window=w, return_complex=True)
        torch.istft(X.real, 8)
        torch.istft(X, 16)
        torch.istft(X, 8, hop_length=9)
        torch.istft(X, 8, win_length=9)
        torch.istft(X[:, :0], 8, window=w)
        torch.istft(X, 8, onesided=False)
        torch.istft(X, 8, window=w, normalized=True)
        torch.istft(X[None], 8, window=w, length=5)
        """,
    ),
    "windows": (
        "",
        "".join(
            f"torch.{name}_window({arguments})\n"
            for name in ("hann", "hamming", "bartlett", "blackman", "kaiser")
            for arguments in ("0", "1", "2", "5", "5, False", "4, periodic=False", "-1", "3, dtype=torch.int64",
                              "3, dtype=torch.float64", "3, dtype=torch.complex64")
        )
        + """
        torch.hamming_window(4, True, 0.3)
        torch.hamming_window(4, True, alpha=0.3, beta=0.1)
        torch.kaiser_window(5, False, beta=3.0)
        torch.signal.windows.exponential(4, center=1.0, sym=False)
        torch.signal.windows.exponential(4, center=1.0)
        torch.fft.fftfreq(5, 0.5)
        torch.fft.fftfreq(4)
        torch.fft.rfftfreq(5, dtype=torch.float64)
        torch.fft.rfftfreq(0)
        """,
    ),
    "places and bits": (
        "a = torch.arange(10.0).view(5, 2); i = torch.tensor([3, 5])",
        """
        torch.unravel_index(i, (2, 3))
        torch.unravel_index(i, 6)
        torch.unravel_index(i.int(), [2, 3])
        torch.unravel_index(i.float(), (2, 3))
        torch.unravel_index(i, (2, -3))
        torch.unravel_index(i, (2.0, 3))
        torch._chunk_cat([a, torch.arange(9.0).view(3, 3)], 0, 2)
        torch._chunk_cat([a, a], 1, 3)
        torch._chunk_cat([a], -3, 2)
        torch._chunk_cat([a, a.half()], 0, 2)
        torch.hash_tensor(a)
        torch.hash_tensor(i.to(torch.int8), keepdim=True)
        torch.hash_tensor(a.bfloat16(), dim=1)
        torch.hash_tensor(a.to(torch.complex64))
        torch.hash_tensor(a, mode=1)
        torch.hash_tensor(a[:0])
        torch.hash_tensor(a[:0], dim=0)
        torch.ops.aten._safe_softmax.default(torch.tensor([[1.0, 2], [-math.inf, -math.inf]]), 1)
        torch.ops.aten._safe_softmax(torch.tensor([[1, 2]]), 1, dtype=torch.float64)
        torch.ops.aten.add.Tensor(a, a, alpha=2)
        """,
    ),
    "dtypes": (
        "x = torch.tensor([[1.0, -2, 3], [2, 5, 1]]); w = torch.tensor([0.5, 1, 2])",
        """
        torch.cov(x.half(), aweights=w)
        torch.cov(x.int(), aweights=w.half())
        torch.cov(x.bfloat16(), fweights=torch.tensor([1, 2, 1]))
        torch.corrcoef(x.bfloat16())
        torch.logit(w.bfloat16(), 0.2)
        torch.linalg.multi_dot([x.bfloat16(), x.T.bfloat16(), x.bfloat16()])
        torch.linalg.multi_dot([x, x.T.double()])
        torch.linalg.multi_dot([x, x])
        torch.linalg.multi_dot([x[0], x.T[0], x[0]])
        torch.linalg.multi_dot([x[0, 0], x])
        torch.linalg.vander(torch.tensor([1, 2, 3], dtype=torch.uint8), N=4)
        torch.linalg.vander(x.half())
        torch.linalg.vander(w, N=1)
        torch.linalg.pinv(torch.empty(2, 3, 0))
        torch.arange(0.0, -8.000001, -4.0, dtype=torch.int32)
        torch.arange(0, 5.000001, 0.7, dtype=torch.int64)
        torch.arange(0.5, 5.5, 1.5, dtype=torch.int16)
        torch.gather(x, 0, torch.tensor([[0]]), out=torch.empty(1, 1, dtype=torch.float64))
        torch.gather(x.to(torch.int8), 0, torch.tensor([[0]]), out=torch.empty(1, 1, dtype=torch.int64))
        torch.complex(x, x, out=torch.empty(2, 3))
        torch.multinomial(w, 2, out=torch.empty(2))
        torch.zeros(2, layout=torch.strided)
        """,
    ),
    "small functions": (
        "x = torch.arange(12.0).view(4, 3); b = bytearray(b'abcdefgh')",
        """
        torch.zeros(5, 3).fill_diagonal_(2.0)
        torch.zeros(7, 3).fill_diagonal_(2.0, wrap=True)
        torch.zeros(4, 3).fill_diagonal_(2.0, wrap=True)
        torch.zeros(2, 3, 3).fill_diagonal_(1)
        torch.zeros(3, 3, 3).fill_diagonal_(1)
        torch.zeros(3).fill_diagonal_(1)
        torch.zeros(2, 2, dtype=torch.int32).fill_diagonal_(1.7)
        torch.zeros(0, 3).fill_diagonal_(1, True)
        x.clone().ldexp_(torch.tensor([1, 2, 3]))
        x.clone().transpose_(0, 1)
        x.clone().polygamma_(1)
        torch.frobenius_norm(x, [0, 1], True)
        torch.nuclear_norm(x)
        torch.nuclear_norm(x, (0, 1), True)
        torch.norm_except_dim(x)
        torch.norm_except_dim(x, 1, 1)
        torch.norm_except_dim(x, 2, -1)
        torch.is_conj(x)
        torch.special.logsumexp(x, 1)
        torch.native_channel_shuffle(torch.arange(16.0).view(1, 4, 2, 2), 2)
        torch.typename(x)
        torch.typename(3)
        torch.get_device(x)
        [torch.sym_max(3, 4.5), torch.sym_min(3, 4.5), torch.sym_int(-3.7), torch.sym_not(True), torch.sym_sqrt(4)]
        torch.asarray(x) is x
        torch.asarray(x, dtype=torch.float64)
        torch.asarray(x, copy=True) is x
        torch.asarray(x, copy=False, dtype=torch.float64)
        torch.asarray([1.0, 2], copy=False)
        torch.asarray([1, 2])
        torch.asarray(b, dtype=torch.int32)
        torch.frombuffer(b, dtype=torch.int32)
        torch.frombuffer(b, dtype=torch.int16, count=2, offset=2)
        torch.frombuffer(b, dtype=torch.bfloat16)
        torch.frombuffer(b, dtype=torch.int32, count=3)
        torch.frombuffer(b, dtype=torch.int32, offset=9)
        torch.frombuffer(b, dtype=torch.int32, offset=1)
        torch.frombuffer(bytearray(), dtype=torch.int32)
        torch.frombuffer(3, dtype=torch.int32)
        torch.pca_lowrank(x, q=30)
        torch.pca_lowrank(x, niter=-1)
        torch.set_deterministic_debug_mode("wrong")
        torch.set_float32_matmul_precision("wrong")
        [torch.inf, torch.pi, torch.e, torch.newaxis]
        """,
    ),
}  # fmt: skip
CASES = [
    pytest.param(names, line.strip(), id=line.strip())
    for names, lines in TABLES.values()
    for line in lines.strip().split("\n")
    if line.strip()
]


def outcome(package, names, line):
    scope = {"torch": package, "math": math}
    exec(names, scope)
    try:
        return values(eval(line, scope))
    except Exception as error:
        return f"{type(error).__name__.lstrip('_')}: {error}"


def values(x):
    if isinstance(x, (tuple, list)):
        return [values(v) for v in x]
    return (str(x.dtype).split(".")[-1], tuple(x.shape), np.array(x.tolist())) if hasattr(x, "dtype") else x


def check(want, got):
    if isinstance(want, list):
        assert len(got) == len(want)
        for w, g in zip(want, got, strict=True):
            check(w, g)
    elif isinstance(want, str):
        # Only the beginning is compared if PyTorch prints options or source code.
        begin = re.split(r", device=| \(error code|\n", want)[0].rstrip(".")
        assert isinstance(got, str) and got.startswith(begin), f"{got} instead of {begin}"
    elif not isinstance(want, tuple):
        assert got == want
    else:
        assert not isinstance(got, str), got
        assert got[:2] == want[:2]
        tolerance = {"bfloat16": 1e-2, "float16": 2e-3}.get(want[0], 1e-4)
        np.testing.assert_allclose(got[2], want[2], tolerance, tolerance)


@pytest.mark.parametrize("names, line", CASES)
def test_expression(names, line):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want, got = (outcome(package, names, line) for package in (torch, ts))
    check(want, got)


WARNED = """
    torch.range(0, 3)
    torch.arange(5, out=torch.ones(3))
    torch.arange(5, out=torch.ones(5))
    torch.arange(0, out=torch.ones(3))
    torch.fft.fftfreq(3, out=torch.ones(2))
    torch.fft.rfftfreq(3, out=torch.ones(9))
    torch.fft.fftfreq(3, out=torch.ones(0))
    torch.from_numpy(np.broadcast_to(1.0, (2,)))
    torch.as_tensor(np.broadcast_to(1.0, (2,)))
    torch.tensor(np.broadcast_to(1.0, (2,)))
    torch.addcmul(torch.ones(2), 2, torch.ones(2), torch.ones(2))
    torch.baddbmm(1, torch.ones(1, 2, 2), 2, torch.ones(1, 2, 2), torch.ones(1, 2, 2))
"""


@pytest.mark.parametrize("source", [line.strip() for line in WARNED.splitlines() if line.strip()])
def test_warnings(source):
    """Expressions issue PyTorch's warnings with `set_warn_always`."""

    def said(library):
        library.set_warn_always(True)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = eval(source, {"torch": library, "np": np})
        finally:
            library.set_warn_always(False)
        return result.tolist(), [str(w.message)[:130].splitlines()[0] for w in caught]

    assert said(ts) == said(torch)
