"""Fourier transforms of rows, and spectra over time: kernels in C against NumPy's transforms and the general kernels."""

import math

import numpy as np
import pytest

import ts
from ts.backends.cpu.namespace import namespace
from ts.ops import stft as general

REAL = [ts.float32, ts.float64]


def close(actual, expected, dtype):
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    assert np.allclose(actual, expected, rtol=0, atol=1e-12 if dtype == ts.float64 else 2e-5, equal_nan=True)


def numbers(*shape, dtype=ts.float32, seed=0):
    return ts.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(dtype.numpy_dtype))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("n", [1, 2, 7, 8, 30, 97])
def test_transforms_of_rows_equal_numpy(n, dtype, norm):
    x = numbers(3, 2, n, dtype=dtype)
    for length in (None, n, n + 3, max(n - 2, 1)):
        for name in ("rfft", "fft", "ifft", "irfft"):
            if name == "irfft" and length is None and n == 1:
                continue
            for source in (x, ts.complex(x, x.flip(-1))) if name != "rfft" else (x,):
                expected = getattr(np.fft, name)(source.numpy().astype("D" if name != "rfft" else "d"), length, -1, norm)
                kind = dtype.numpy_dtype if name == "irfft" else np.result_type(dtype.numpy_dtype, 1j)
                close(getattr(ts.fft, name)(source, length, -1, norm).numpy(), expected.astype(kind), dtype)


def test_transforms_of_other_layouts_and_dimensions():
    x = numbers(6, 4, 10)
    close(ts.fft.rfft(x.permute(2, 0, 1)).numpy(), np.fft.rfft(x.permute(2, 0, 1).numpy()), ts.float32)
    close(ts.fft.rfft(x, dim=0).numpy(), np.fft.rfft(x.numpy(), axis=0), ts.float32)
    assert ts.fft.rfft(x[:0]).shape == (0, 4, 6)
    assert ts.isnan(ts.fft.rfft(ts.tensor([1.0, math.nan, 2.0]))).all()
    for wrong in ({"n": 0}, {"dim": 3}, {"norm": "much"}):
        with pytest.raises((RuntimeError, IndexError, ValueError)):
            ts.fft.rfft(x, **wrong)


CASES = {  # number of samples, frame length, hop length, window length, other options
    "plain": (50, 16, None, None, {}),
    "hop and narrow window": (50, 16, 5, 9, {}),
    "odd": (41, 15, 4, None, {"normalized": True}),
    "not centred": (64, 16, 8, None, {"center": False}),
    "long": (3000, 64, 16, None, {}),
    "one frame": (16, 16, 100, None, {"center": False}),
}


@pytest.mark.parametrize("window", [True, False])
@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_spectra_equal_the_general_kernel(name, dtype, window):
    samples, n, hop, width, options_of_case = CASES[name]
    w = numbers(width or n, dtype=dtype, seed=1).abs() + 0.1 if window else None
    host = None if w is None else w.numpy()
    center, normalized = options_of_case.get("center", True), options_of_case.get("normalized", False)
    for x in (numbers(samples, dtype=dtype), numbers(3, samples, dtype=dtype), numbers(samples, 2, dtype=dtype).t()):
        actual = ts.stft(x, n, hop, width, w, center, "reflect", normalized, None, True)
        expected = general._stft_center(
            namespace, np.ascontiguousarray(x.numpy()), n, hop, width, host, center, "reflect", normalized, None, True
        )
        close(actual.numpy(), expected, dtype)
        assert actual.stride() == tuple(s // expected.itemsize for s in expected.strides)
        if name == "one frame":
            continue
        for spectra in (actual, actual.contiguous()):
            for length in (None, samples - 5, samples + 7):
                options = (n, hop, width)
                try:
                    inverse = general._istft(
                        namespace, spectra.numpy(), *options, host, center, normalized, None, length, False
                    )
                except RuntimeError as error:
                    with pytest.raises(RuntimeError, match="window overlap add min"):
                        ts.istft(spectra, *options, w, center, normalized, None, length)
                    assert "window overlap add min" in str(error)
                    continue
                close(ts.istft(spectra, *options, w, center, normalized, None, length).numpy(), inverse, dtype)


def test_signals_come_back():
    x, w = numbers(2, 200), ts.hann_window(32)
    spectra = ts.stft(x, 32, 8, window=w, return_complex=True)
    assert ts.allclose(ts.istft(spectra, 32, 8, window=w, length=200), x, atol=1e-5)


def test_invalid_arguments_are_rejected():
    x = numbers(20)
    with pytest.raises(RuntimeError, match="expected hop_length > 0"):
        ts.stft(x, 8, 0, return_complex=True)
    with pytest.raises(RuntimeError, match="Padding size should be less"):
        ts.stft(x, 64, return_complex=True)
    with pytest.raises(RuntimeError, match="1D window tensor of size equal"):
        ts.stft(x, 8, window=ts.ones(7), return_complex=True)
    with pytest.raises(RuntimeError, match="cannot be empty"):
        ts.istft(ts.zeros(5, 0, dtype=ts.complex64), 8)
