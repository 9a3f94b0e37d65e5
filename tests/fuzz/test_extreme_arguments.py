"""No operator hangs, ends the process or fails by accident, whatever its numbers are."""

import pytest

from tests.fuzz import extreme_arguments
from tests.sharding import some

PARTS = 16


@pytest.mark.parametrize("part", some(*range(0, PARTS, 4), of=range(PARTS)))
def test_malicious_numbers(part):
    """Every number of every record's sample, and every tensor, replaced by extreme ones."""
    count = len(extreme_arguments.records())
    found = extreme_arguments.problems(count * part // PARTS, count * (part + 1) // PARTS)
    assert not found, "\n".join(found)
