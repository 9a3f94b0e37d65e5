"""No operator crashes, hangs, exceeds its memory or raises an unintended error for invalid arguments."""

import re

import pytest

import ts
from tests.fuzz import random_calls
from tests.sharding import some

SEEDS = 12


@pytest.mark.parametrize("seed", some(0, 5, of=range(SEEDS)))
def test_random_calls(seed):
    found = random_calls.problems(seed * 4, seed * 4 + 4)
    assert not found, "\n".join(found)


FFTS = [
    ts.fft.fft, ts.fft.ifft, ts.fft.rfft, ts.fft.irfft, ts.fft.hfft, ts.fft.ihfft, ts.fft.fft2, ts.fft.rfft2, ts.fft.fftn, ts.fft.irfftn,
    ts.fft.hfftn, ts.fft.ihfftn,
]  # fmt: skip


@pytest.mark.parametrize("transform", FFTS, ids=lambda f: f.__name__)
def test_normalization_of_transforms(transform):
    with pytest.raises(RuntimeError, match=re.escape('Invalid normalization mode: "trunc"')):
        transform(ts.ones(3, 3), norm="trunc")


def rnn(sizes, name="rnn_tanh", gates=1):
    """Call a recurrent operator on a packed sequence."""
    weights = [ts.ones(3 * gates, 3), ts.ones(3 * gates, 3), ts.ones(3 * gates), ts.ones(3 * gates)]
    state = ts.ones(1, 2, 3) if name != "lstm" else [ts.ones(1, 2, 3), ts.ones(1, 2, 3)]
    return getattr(ts.ops.aten, name).data(ts.ones(4, 3), sizes, state, weights, True, 1, 0.0, False, False)


@pytest.mark.parametrize("name, gates", [("rnn_tanh", 1), ("rnn_relu", 1), ("gru", 3), ("lstm", 4)])
def test_sizes_of_packed_sequences(name, gates):
    rnn(ts.tensor([2, 2]), name, gates)
    with pytest.raises(RuntimeError, match="expected a vector, found 3 dimensions"):
        rnn(ts.zeros(1, 1, 0, dtype=ts.int64).expand(1 << 20, 1 << 20, 0), name, gates)
    with pytest.raises(RuntimeError, match="expected scalar type Long but found Int"):
        rnn(ts.tensor([2, 2], dtype=ts.int32), name, gates)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        rnn(ts.tensor(2), name, gates)


def test_slow_nonzero_does_not_start():
    x = ts.zeros(1).expand(1 << 34)
    for call in (ts.nonzero, ts.argwhere, ts.where):
        with pytest.raises(ts.errors.TimeExceeded, match="the next operation takes at least"), ts.limits(seconds=4):
            call(x)


def test_invalid_arguments_within_limits_raise_what_they_raise_without():
    """Time estimates for `ts.limits` raise no other errors for arguments that the kernel rejects."""
    with ts.limits(seconds=100), pytest.raises(IndexError, match="Dimension"):
        ts.ops.aten.tensordot(ts.ones(()), ts.ones(3, 3), [3, 3], [3, 3])
