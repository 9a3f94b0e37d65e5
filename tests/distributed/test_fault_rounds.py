"""Whatever happens to processes and connections: no answer is wrong, no call hangs, nothing is left over."""

import pytest

pytest.importorskip("distributed", reason="rpc needs dask.distributed")

from tests.distributed.fault_injection import rounds


def test_rounds(nursery):
    """A share of them."""
    rounds(nursery, 0, 20)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 1000, 250))
def test_all_rounds(nursery, first):
    """As above."""
    rounds(nursery, first, 250)
