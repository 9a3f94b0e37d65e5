"""Powers that PyTorch computes as products, roots and quotients are equal bit for bit."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import ts  # noqa: E402

VALUES = np.concatenate(
    [
        np.random.default_rng(0).normal(size=1000),
        [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, -3e38, 1e-310, 1e300],
    ]
)


@pytest.mark.parametrize("exponent", [3, 3.0, 2, 2.0, -1, -2, -0.5, 1, 0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers(dtype, exponent):
    with np.errstate(over="ignore"):
        x = VALUES.astype(dtype)
    want, got = (torch.from_numpy(x) ** exponent).numpy(), (ts.from_numpy(x) ** exponent).numpy()
    assert np.array_equal(want, got, equal_nan=True)
    known = ~np.isnan(want)
    assert np.array_equal(np.signbit(want[known]), np.signbit(got[known]))
