"""What of a test's parameters runs each time; `make test-long` runs the others."""

import pytest


def some(*now, of):
    """All of `of`, those that are not in `now` marked as long."""
    assert set(now) <= set(of)
    return [x if x in now else pytest.param(*(x if isinstance(x, tuple) else (x,)), marks=pytest.mark.long) for x in of]
