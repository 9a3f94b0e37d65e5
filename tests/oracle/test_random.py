"""The random streams against PyTorch's own numbers."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from ts.ops import random, rules  # noqa: E402

SEEDS = (0, 1, 42, 2**40 + 7)
SIZES = (1, 5, 15, 16, 17, 100, 1000)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", SIZES)
def test_uniform_is_bit_for_bit(seed, size):
    for theirs, ours in ((torch.float32, rules.FLOAT), (torch.float64, rules.DOUBLE)):
        torch.manual_seed(seed)
        random.manual_seed(seed)
        want = torch.rand(size, dtype=theirs).numpy()
        assert np.array_equal(random.uniform_array(np, (size,), ours, None), want)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "low, high", [(0, 10), (-5, 6), (0, 2**27), (0, 2**28 + 1), (0, 2**31), (0, 2**32), (0, 2**50)]
)
def test_integers_are_bit_for_bit(seed, low, high):
    torch.manual_seed(seed)
    random.manual_seed(seed)
    want = torch.randint(low, high, (50,)).numpy()
    assert np.array_equal(random.integer_array(np, low, high, (50,), rules.INT64, None), want)


@pytest.mark.parametrize("n", [0, 1, 2, 10, 1000])
def test_permutations_are_bit_for_bit(n):
    torch.manual_seed(n)
    random.manual_seed(n)
    assert np.array_equal(random.permutation(n, None), torch.randperm(n).numpy())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("size", SIZES)
def test_normal_numbers_are_the_same_stream(seed, size):
    for theirs, ours, places in ((torch.float32, rules.FLOAT, 2e-6), (torch.float64, rules.DOUBLE, 1e-12)):
        torch.manual_seed(seed)
        random.manual_seed(seed)
        want = torch.randn(size, dtype=theirs).numpy()
        got = random.normal_array(np, (size,), ours, None)
        assert np.allclose(got, want, rtol=places, atol=places)
        # The stream stands at the same place afterwards.
        assert np.array_equal(random.uniform_array(np, (3,), rules.FLOAT, None), torch.rand(3).numpy())
