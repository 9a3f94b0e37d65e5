"""The random streams against PyTorch's own numbers."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import ts  # noqa: E402
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
    assert np.array_equal(random.source(np, None).permutation(n), torch.randperm(n).numpy())


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


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_samples_in_the_dtype(dtype):
    """Half precision takes float32's draws; one that is rounded up to the end becomes the start."""
    found = []
    for module in (torch, ts):
        kind = getattr(module, dtype)
        module.manual_seed(0)
        p = module.full((40,), 0.3, dtype=kind)
        found.append([
            module.rand(1000, dtype=kind).tolist(),
            module.empty(1000, dtype=kind).uniform_(2, 3).tolist(),
            module.bernoulli(p).tolist(),
            module.empty(40).bernoulli_(p).tolist(),
            module.rand(2).tolist(),
        ])  # fmt: skip
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "int32"])
@pytest.mark.parametrize(
    "draw",
    [
        lambda x: x.bernoulli_(0.3),
        lambda x: x.bernoulli_(),
        lambda x: x.bernoulli(0.3),
        lambda x: x.random_(),
        lambda x: x.random_(5),
        lambda x: x.random_(-3, 5),
        lambda x: x.uniform_(),
        lambda x: x.uniform_(-1, 2),
        lambda x: x.normal_(1, 2),
        lambda x: x.exponential_(2),
        lambda x: x.geometric_(0.3),
        lambda x: x.cauchy_(1, 2),
        lambda x: x.log_normal_(0.5, 0.25),
    ],
    ids="bernoulli_p bernoulli_ bernoulli random_ random_5 random_range uniform uniform_range normal exponential geometric "
    "cauchy log_normal".split(),
)
def test_sampling_in_place(draw, dtype):
    """The same numbers, or the same refusal."""
    results = []
    for module in (torch, ts):
        module.manual_seed(11)
        try:
            results.append(draw(module.zeros(40, dtype=getattr(module, dtype))).numpy())
        except (RuntimeError, NotImplementedError, TypeError) as error:
            results.append(type(error))
    want, got = results
    if isinstance(want, type) or isinstance(got, type):
        assert got is want
    else:
        assert np.allclose(got, want, rtol=2e-5, atol=2e-5)


def test_generators_have_streams_of_their_own():
    for module in (torch, ts):
        module.manual_seed(0)
    theirs, ours = torch.Generator().manual_seed(5), ts.Generator().manual_seed(5)
    for draw in ("rand", "randn"):
        want = getattr(torch, draw)(3, generator=theirs)
        assert np.allclose(getattr(ts, draw)(3, generator=ours).numpy(), want.numpy(), rtol=1e-6)
    assert (
        ts.randint(0, 9, (4,), generator=ours).tolist()
        == torch.randint(0, 9, (4,), generator=theirs).tolist()
    )
    assert ts.randperm(6, generator=ours).tolist() == torch.randperm(6, generator=theirs).tolist()
    with ts.random.fork_rng(), torch.random.fork_rng():
        ts.rand(3), torch.rand(3)
    assert ts.rand(3).tolist() == torch.rand(3).tolist()
