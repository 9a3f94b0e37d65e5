"""Private names of PyTorch's RPC modules that programs use."""

import pytest

import ts

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
from tests.distributed import rpc_worker
from ts.distributed import autograd as dist_autograd
from ts.distributed import rpc

ALL = ("worker0", "worker1", "worker2")


def test_wait_all(module_workers):
    """`_wait_all` waits for its calls, direct and through references, and raises their errors."""
    ref = rpc.remote("worker1", rpc_worker.Counter)
    with rpc.api._wait_all():
        with rpc.api._wait_all():
            inner = rpc.rpc_async("worker1", rpc_worker.sleep, args=(0.05, 1))
        assert inner.done()
        outer = rpc.rpc_async("worker2", rpc_worker.sleep, args=(0.05, 2), retryable=True)
        method = ref.rpc_async().sleep(0.05)
    assert outer.done() and method.done()
    with pytest.raises(ValueError, match="bad 3"), rpc.api._wait_all():
        rpc.rpc_async("worker1", rpc_worker.fail, args=(3,))
    # a call outside of the context is not affected
    after = rpc.rpc_async("worker1", rpc_worker.fail, args=(4,))
    with pytest.raises(ValueError, match="bad 4"):
        after.wait()


def test_all_gather(module_workers):
    """`_all_gather` collects values by name, from all or selected workers; consecutive calls stay separate."""
    for turn in range(3):
        futures = [rpc.rpc_async(to, rpc_worker.gather, args=(turn + k,)) for k, to in enumerate(ALL[1:], 1)]
        found = rpc.api._all_gather(ts.full((2,), float(turn)), timeout=20)
        assert list(found) == [*ALL]
        assert found["worker0"].tolist() == [turn, turn]
        assert (found["worker1"], found["worker2"]) == (turn + 1, turn + 2)
        assert all(each.wait()["worker2"] == turn + 2 for each in futures)
    pair = ["worker2", "worker1"]
    futures = [rpc.rpc_async(to, rpc_worker.gather, args=(to, pair)) for to in pair]
    assert [each.wait() for each in futures] == [{"worker1": "worker1", "worker2": "worker2"}] * 2
    handle = rpc.RRef(5)
    futures = [rpc.rpc_async(to, rpc_worker.gather, args=(None,)) for to in ALL[1:]]
    rpc.api._all_gather(handle)
    assert all(each.wait()["worker0"].to_here() == 5 for each in futures)
    rpc.api._barrier({"worker0"})


def test_all_gather_errors(module_workers):
    with pytest.raises(AssertionError, match="worker0 is not contained by"):
        rpc.api._all_gather(1, {"worker1"})
    with pytest.raises(RuntimeError, match="could not find destination name nobody"):
        rpc.api._all_gather(1, {"worker0", "nobody"})
    with pytest.raises(RuntimeError, match=r"set timeout \(200 ms\)"):
        rpc.api._all_gather(1, {"worker0", "worker1"}, timeout=0.2)
    with pytest.raises(TypeError, match="cannot be sent"):
        rpc.api._all_gather(object())


def test_types(module_workers):
    """The type of a remote value is returned without the value; custom classes are imported."""
    for value, kind in ((ts.ones(2), ts.Tensor), (3, int), (None, type(None)), ([1], list)):
        assert rpc.remote("worker1", rpc_worker.identity, args=(value,))._get_type() is kind
        assert rpc.RRef(value)._get_type() is kind
    ref = rpc.remote("worker1", rpc_worker.Counter)
    future = ref._get_type(blocking=False)
    assert future.wait() is rpc_worker.Counter and ref._get_type(blocking=False) is future
    with pytest.raises(ValueError, match="bad 1"):
        rpc.remote("worker1", rpc_worker.fail, args=(1,))._get_type()


def test_untrusted_type_names():
    """A type name received from an owner imports nothing unless Python is allowed."""
    from ts.distributed.rpc.callable_registry import ReceivedCode

    known = ReceivedCode(allow_python=False)
    assert known.type_of(("builtins", "int")) is int
    with pytest.raises(PermissionError, match=r"runs Python functions .* only with allow_python=True"):
        known.type_of(("subprocess", "Popen"))
    for name in (("builtins", "eval"), ("ts.none", "X"), (1, 2)):
        with pytest.raises(ValueError, match="type"):
            known.type_of(name)


def test_backward_of_handles(module_workers):
    """`RRef.backward` accumulates gradients at the owner, in the context or, without one, in `grad`."""
    weight = ts.tensor([1.0, 2.0], requires_grad=True)
    with dist_autograd.context() as context_id:
        remote_value = rpc.remote("worker1", rpc_worker.half_square, args=(weight,))
        remote_value.backward(context_id, retain_graph=True)
        remote_value.backward(context_id)
        assert dist_autograd.get_gradients(context_id)[weight].tolist() == [2, 4]
        rpc.RRef(rpc.rpc_sync("worker1", rpc_worker.half_square, args=(weight,))).backward(context_id)
        assert dist_autograd.get_gradients(context_id)[weight].tolist() == [3, 6]
        with pytest.raises(RuntimeError, match="a second time"):
            remote_value.backward(context_id)
        with pytest.raises(RuntimeError, match=r"RRef should contain a tensor for .backward\(\)"):
            rpc.remote("worker1", rpc_worker.add, args=(1, 2)).backward(context_id)
        with pytest.raises(RuntimeError, match="User RRefs require 'dist_autograd_ctx_id' to be specified"):
            remote_value.backward()
    assert weight.grad is None
    with pytest.raises(RuntimeError, match="Could not find autograd context with id"):
        remote_value.backward(context_id)
    rpc.RRef(rpc_worker.half_square(weight)).backward()
    assert weight.grad.tolist() == [1, 2]


def test_debug_info(module_workers):
    """Debug information counts pending calls and values with remote references."""
    assert rpc.rpc_sync("worker1", rpc_worker.figures)["agent.thread_pool_size"] == "16"
    ref = rpc.remote("worker1", rpc_worker.identity, args=(3,))
    ref.to_here()
    found = rpc.rpc_sync("worker1", rpc_worker.figures)
    assert int(found["num_owner_rrefs"]) >= 1 and int(found["num_forks"]) >= 1
    assert found["agent.server_active_calls"] == "1"  # the current call
    assert found["num_autograd_contexts"] == 0
    future = rpc.rpc_async("worker1", rpc_worker.sleep, args=(0.3,))
    assert rpc.api._get_current_rpc_agent().get_debug_info()["agent.client_active_calls"] == "1"
    future.wait()
    assert rpc._get_debug_info()["agent.client_active_calls"] == "0"
