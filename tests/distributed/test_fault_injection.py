"""Random faults of processes and connections: no wrong answers, no hanging calls, no leaked resources."""

import pytest

pytest.importorskip("distributed", reason="rpc needs dask.distributed")

from tests.distributed.fault_injection import rounds


def test_rounds(fork_server_client):
    """A sample of the fault rounds succeeds."""
    rounds(fork_server_client, 0, 20)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_all_rounds(fork_server_client, first):
    """All fault rounds succeed."""
    rounds(fork_server_client, first, 250)
