"""Order of the steps of `init_rpc`."""

from tests.distributed import rpc_worker
from tests.distributed.process_groups import free_port
from ts.distributed import rpc
from ts.distributed.rpc import state
from ts.distributed.rpc.endpoint import Endpoint


def test_requests_are_handled_after_the_agent_is_set(monkeypatch):
    """A function that another worker calls during `init_rpc` can use the agent of this process."""
    agents = []
    open_endpoint = Endpoint.open

    def record_agent(self, *args):
        agents.append(state.agent)
        open_endpoint(self, *args)

    monkeypatch.setattr(Endpoint, "open", record_agent)
    rpc.init_rpc("worker0", rank=0, world_size=1, rpc_backend_options=rpc_worker.options(free_port()))
    try:
        assert agents == [state.current()]
    finally:
        rpc.shutdown()
