"""No operator hangs, ends the process or raises an unintended error for extreme arguments."""

import pytest

from tests.fuzz import extreme_arguments
from tests.sharding import some

PARTS = 16


@pytest.mark.parametrize("part", some(*range(0, PARTS, 4), of=range(PARTS)))
def test_malicious_numbers(part):
    """Each number and tensor among the sample arguments of each record is replaced by extreme values."""
    count = len(extreme_arguments.records())
    found = extreme_arguments.problems(count * part // PARTS, count * (part + 1) // PARTS)
    assert not found, "\n".join(found)
