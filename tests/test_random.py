"""Random numbers compared with recorded PyTorch numbers."""

import pickle

import numpy as np
import pytest

import ts
from ts.backends.cpu.kernels.mt19937 import STATE_BYTES, MersenneTwister


def test_recorded_numbers():
    ts.manual_seed(0)
    assert ts.rand(3).tolist() == pytest.approx([0.4962565899, 0.7682217956, 0.0884774327], rel=1e-7)
    ts.manual_seed(0)
    assert ts.randint(0, 10, (5,)).tolist() == [4, 9, 3, 0, 3]
    ts.manual_seed(0)
    assert ts.randperm(5).tolist() == [4, 0, 1, 3, 2]


def test_words_equal_the_mersenne_twister():
    """The ten-thousandth word for the seed 5489 equals the reference implementation's."""
    assert MersenneTwister(5489).words(10_000)[-1] == 4123659995


def test_words_are_numpys():
    """The generator produces NumPy's random words for equal (legacy) seeds."""
    generator = MersenneTwister(1234)
    assert np.array_equal(generator.words(2000), np.random.RandomState(1234).randint(0, 2**32, 2000, dtype=np.uint32))


def test_a_seed_repeats_and_streams_are_separate():
    own = ts.Generator().manual_seed(7)
    first = ts.rand(4, generator=own)
    ts.manual_seed(1)
    ts.rand(10)
    assert ts.rand(4, generator=ts.Generator().manual_seed(7)).tolist() == first.tolist()


def test_state_restores_the_stream():
    ts.manual_seed(3)
    ts.randn(3)  # leaves one of a pair of normal numbers
    state = ts.get_rng_state()
    assert state.dtype == ts.uint8 and state.shape == (STATE_BYTES,) == (5056,)
    expected = ts.randn(5).tolist(), ts.rand(700).tolist()
    ts.set_rng_state(state)
    assert (ts.randn(5).tolist(), ts.rand(700).tolist()) == expected
    with ts.random.fork_rng():
        ts.rand(3)
        ts.manual_seed(9)
    ts.set_rng_state(state)
    assert ts.randn(5).tolist() == expected[0]


def test_invalid_states_are_rejected_and_change_nothing():
    g = ts.Generator().manual_seed(1)
    before = g.get_state()
    broken = before.clone()
    broken[8:12] = ts.tensor([255, 255, 255, 127], dtype=ts.uint8)  # number of words left: too large
    for state in (broken, before[:-1], ts.zeros(5056, dtype=ts.uint8)):
        with pytest.raises(RuntimeError):
            g.set_state(state)
    broken = before.clone()
    broken[16:24] = 255  # index of the next word: out of range
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        g.set_state(broken)
    assert ts.equal(g.get_state(), before)


def test_ranges():
    ts.manual_seed(5)
    values = ts.rand(10_000)
    assert values.min() >= 0 and values.max() < 1
    assert sorted(ts.randperm(100).tolist()) == list(range(100))


@pytest.mark.parametrize(
    "draw, mean, deviation",
    [
        (lambda n: ts.randn(n, dtype=ts.float64), 0, 1),
        (lambda n: ts.empty(n, dtype=ts.float64).exponential_(2.0), 0.5, 0.5),
        (lambda n: ts.poisson(ts.full((n,), 3.0)), 3, 3**0.5),
        (lambda n: ts.poisson(ts.full((n,), 50.0)), 50, 50**0.5),
        (lambda n: ts.binomial(ts.full((n,), 20.0), ts.full((n,), 0.25)), 5, 3.75**0.5),
        (lambda n: ts.binomial(ts.full((n,), 200.0), ts.full((n,), 0.75)), 150, 37.5**0.5),
        (lambda n: ts._standard_gamma(ts.full((n,), 4.0)), 4, 2),
        (lambda n: ts._standard_gamma(ts.full((n,), 0.25)), 0.25, 0.5),
        (lambda n: ts.empty(n).geometric_(0.5), 2, 2**0.5),
        (lambda n: ts.nn.functional.dropout(ts.ones(n), 0.5), 1, 1),
        (lambda n: ts.nn.functional.alpha_dropout(ts.randn(n), 0.25, True), 0, 1),
    ],
)
def test_moments(draw, mean, deviation):
    """Mean and deviation of 20,000 samples are within five standard errors."""
    ts.manual_seed(11)
    x = draw(20_000).to(ts.float64)
    assert abs(float(x.mean()) - mean) < 5 * deviation / 20_000**0.5
    assert abs(float(x.std()) / deviation - 1) < 0.1


def test_numbers_are_drawn_in_memory_order():
    ts.manual_seed(2)
    expected = ts.rand(6).tolist()
    ts.manual_seed(2)
    x = ts.zeros(2, 3).t().uniform_()
    assert x.t().reshape(-1).tolist() == expected


def test_nan_parameters_terminate():
    """Rejection loops terminate for any parameters."""
    odd = ts.tensor([float("nan"), float("inf"), 0.0, 1e300, 1e-300], dtype=ts.float64)
    ts.manual_seed(0)
    assert ts._standard_gamma(odd)[2] >= 0
    assert ts._standard_gamma(-odd).shape == (5,)
    assert ts.binomial(odd, ts.full((5,), 0.3, dtype=ts.float64)).shape == (5,)
    assert ts.binomial(ts.full((5,), 1e300, dtype=ts.float64), odd).shape == (5,)
    assert ts.poisson(odd[1:]).shape == (4,)


def test_no_random_numbers_on_the_meta_device():
    ts.manual_seed(1)
    before = ts.get_rng_state()
    x = ts.rand(3, device="meta").normal_().bernoulli_(0.5)
    ts.nn.functional.dropout(x), ts.randperm(5, device="meta"), ts.multinomial(x, 2), ts.poisson(x)
    assert ts.equal(ts.get_rng_state(), before)


def test_generators_are_pickled_with_their_state():
    g = ts.Generator().manual_seed(3)
    ts.rand(2, generator=g)
    restored = pickle.loads(pickle.dumps(g))
    assert ts.rand(3, generator=restored).tolist() == ts.rand(3, generator=g).tolist()
    assert restored.initial_seed() == 3


@pytest.mark.parametrize("words_before", [0, 1, 623])
def test_bernoulli_samples_use_one_uniform_number_each(words_before):
    """Blocks of samples read the words of the generator in the order of single samples, also across a twist."""
    n, p = 1500, 0.3
    ts.manual_seed(5)
    ts.rand(words_before)
    uniform = ts.rand(n, dtype=ts.float64)
    next_number = ts.rand(1)
    for sample in (lambda: ts.empty(n).bernoulli_(p), lambda: ts.bernoulli(ts.full((n,), p, dtype=ts.float64)), lambda: ts.bernoulli(ts.empty(n), p)):
        ts.manual_seed(5)
        ts.rand(words_before)
        assert ts.equal(sample().bool(), uniform < p) and ts.equal(ts.rand(1), next_number)
    ts.manual_seed(5)
    ts.rand(words_before)
    assert ts.equal(ts.nn.functional.dropout(ts.ones(n), 1 - p) != 0, uniform < p) and ts.equal(ts.rand(1), next_number)
    ts.manual_seed(5)
    single = ts.rand(n)
    ts.manual_seed(5)
    assert ts.equal(ts.bernoulli(ts.full((n,), p)).bool(), single < p)
