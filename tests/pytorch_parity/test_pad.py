"""Padding compared with PyTorch: random shapes, paddings and modes, for elements of all sizes."""

import random

import numpy as np
import pytest

import ts

torch = pytest.importorskip("torch")

DTYPES = ["float32", "float64", "int64", "int32", "uint8", "bool", "complex64", "complex128"]


def draw(seed):
    r = random.Random(seed)
    shape = [r.choice([1, 2, 3, 5]) for _ in range(r.randint(1, 5))]
    mode = r.choice(["constant", "reflect", "replicate", "circular"])
    least = 0 if mode == "circular" else -1
    pairs = [r.choice([n for n in (0, 0, 1, 2, 3, -1) if n >= least]) for _ in range(2 * r.randint(1, 3))]
    return (
        shape,
        pairs,
        mode,
        r.choice([None, 0.0, 2.5, -1.0]) if mode == "constant" else None,
        r.choice(DTYPES),
    )


def padded(library, x, pairs, mode, value):
    try:
        return library.nn.functional.pad(x, pairs, mode, value)
    except (RuntimeError, NotImplementedError):
        return None


@pytest.mark.parametrize("seed", range(200))
def test_drawn(seed):
    """Random `pad` calls have PyTorch's elements and strides, or are rejected by both libraries."""
    shape, pairs, mode, value, dtype = draw(seed)
    host = (np.random.default_rng(seed).standard_normal(shape) * 4).astype(dtype)
    want = padded(torch, torch.from_numpy(host), pairs, mode, value)
    got = padded(ts, ts.from_numpy(host), pairs, mode, value)
    assert (got is None) == (want is None)
    if want is not None and want.numel():
        np.testing.assert_array_equal(got.numpy(), want.numpy())
        assert tuple(got.stride()) == want.stride()
