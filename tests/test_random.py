"""Random numbers: what must hold without PyTorch at hand (its numbers, recorded)."""

import numpy as np

from ts.ops import random, rules
from ts.ops.generator import MersenneTwister


def uniform(n, dtype=rules.FLOAT):
    return random.uniform_array(np, (n,), dtype, None)


def test_recorded_numbers():
    random.manual_seed(0)
    assert np.array_equal(uniform(3), np.array([0.4962565899, 0.7682217956, 0.0884774327], dtype=np.float32))
    random.manual_seed(0)
    assert random.integer_array(np, 0, 10, (5,), rules.INT64, None).tolist() == [4, 9, 3, 0, 3]
    random.manual_seed(0)
    assert MersenneTwister(0).permutation(5).tolist() == [4, 0, 1, 3, 2]


def test_a_seed_repeats_and_streams_are_separate():
    own = MersenneTwister(7)
    first = own.uniform(4, True)
    random.manual_seed(1)
    uniform(10)
    assert np.array_equal(MersenneTwister(7).uniform(4, True), first)


def test_state_brings_the_stream_back():
    stream = MersenneTwister(3)
    stream.normal(3, False)  # leaves half a pair over
    state = stream.get_state()
    want = stream.normal(5, False)
    stream.set_state(state)
    assert np.array_equal(stream.normal(5, False), want)


def test_ranges():
    random.manual_seed(5)
    values = uniform(10_000)
    assert values.min() >= 0 and values.max() < 1
    assert sorted(MersenneTwister(1).permutation(100).tolist()) == list(range(100))
    normal = random.normal_array(np, (10_000,), rules.DOUBLE, None)
    assert abs(normal.mean()) < 0.05 and abs(normal.std() - 1) < 0.05
