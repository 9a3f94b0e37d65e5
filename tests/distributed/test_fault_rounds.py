"""Random faults of processes and connections: no wrong answers, no hanging calls, no leaked resources."""

import pytest

pytest.importorskip("distributed", reason="rpc needs dask.distributed")

from tests.distributed.fault_injection import rounds


def test_rounds(nursery):
    """Run a share of the fault rounds."""
    rounds(nursery, 0, 20)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_all_rounds(nursery, first):
    """Run all fault rounds."""
    rounds(nursery, first, 250)
