"""The `repr` of random tensors of all dtypes equals PyTorch's, with all print options."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ts._core.tensor import printing  # noqa: E402
from ts._core.tensor import factories  # noqa: E402

FLOATS = ("float32", "float64", "float16")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8", "bool")
COMPLEX = ("complex64", "complex128")


def random_array(rng: np.random.Generator, dtype: str) -> np.ndarray:
    """Return an array of a random shape and magnitude; some are integral, some have NaN and infinities."""
    shape = tuple(rng.integers(0 if rng.random() < 0.1 else 1, 6, rng.integers(0, 5)))
    if rng.random() < 0.1:
        shape = tuple(rng.integers(1, 40, 2)) if rng.random() < 0.5 else (int(rng.integers(1, 2000)),)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype in INTEGERS:
        limit = int(min(10 ** rng.integers(1, 18), np.iinfo(dtype).max))
        return np.asarray(rng.integers(0 if dtype[0] == "u" else -limit, limit, shape)).astype(dtype)
    with np.errstate(all="ignore"):

        def part() -> np.ndarray:
            x = rng.standard_normal(shape) * 10.0 ** rng.uniform(-6, 9 if dtype != "float16" else 3)
            if rng.random() < 0.3:
                x = np.round(x)
            x = np.asarray(x, np.float64)
            special = rng.random(shape)
            if rng.random() < 0.3:
                x = np.where(
                    special < 0.1, np.nan, np.where(special < 0.2, -np.inf, np.where(special < 0.4, 0, x))
                )
            return x

        if dtype in COMPLEX:
            return (part() + 1j * part()).astype(dtype)
        return np.asarray(part()).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS + COMPLEX)
def test_random_tensors_print_alike(dtype):
    """The texts of 60 random tensors of each dtype equal PyTorch's."""
    rng = np.random.default_rng(len(dtype) * 1000 + ord(dtype[0]))
    for _ in range(60):
        array = np.asarray(random_array(rng, dtype))
        assert repr(factories.tensor(array)) == repr(torch.tensor(array))


@pytest.mark.parametrize(
    "options",
    [
        {"precision": 2}, {"threshold": 10}, {"threshold": 5, "edgeitems": 1}, {"linewidth": 40}, {"sci_mode": True},
        {"sci_mode": False}, {"profile": "short"}, {"profile": "full"}, {"precision": 8, "linewidth": 120},
    ],
)  # fmt: skip
def test_options(options):
    """`set_printoptions` changes both texts equally."""
    rng = np.random.default_rng(7)
    try:
        printing.set_printoptions(**options)
        torch.set_printoptions(**options)
        for dtype in ("float32", "int64", "complex64"):
            for _ in range(15):
                array = np.asarray(random_array(rng, dtype))
                assert repr(factories.tensor(array)) == repr(torch.tensor(array))
    finally:
        printing.set_printoptions(profile="default")
        torch.set_printoptions(profile="default")


def test_bfloat16_and_suffixes():
    """The suffixes for dtype, device, size and requires_grad equal PyTorch's."""
    for data in ([1.5, 2.25], [], 3.0, [[0.1, 1e5]]):
        assert repr(factories.tensor(data, dtype=_ts("bfloat16"))) == repr(
            torch.tensor(data, dtype=torch.bfloat16)
        )
        assert repr(factories.tensor(data).requires_grad_()) == repr(torch.tensor(data).requires_grad_())
    assert repr(factories.tensor([[1, 2]]).to("meta")) == repr(torch.tensor([[1, 2]]).to("meta"))


def _ts(name):
    from ts import dtypes

    return dtypes.by_name(name)
