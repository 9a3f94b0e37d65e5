"""Sharding of test parameters into regular and long runs (`make test-long`)."""

import pytest


def some(*now, of):
    """Return all parameters of `of`, with those not in `now` marked as long."""
    assert set(now) <= set(of)
    return [x if x in now else pytest.param(*(x if isinstance(x, tuple) else (x,)), marks=pytest.mark.long) for x in of]
