"""Unusual or missing responses: exceptions of all kinds, and code that never arrives."""

import time

import pytest

import ts

pytest.importorskip("distributed", reason="rpc needs dask.distributed")
from tests.distributed import rpc_worker
from ts.distributed import rpc
from ts.distributed.rpc.api import current
from ts.distributed.rpc.callable_registry import UnknownCodeError


@pytest.mark.parametrize("how", ["exit", "interrupt", "silent", "group", "surrogate"])
def test_unusual_exceptions(module_workers, how):
    """Every exception of a remote function is reported without delay by all kinds of calls."""
    calls = (
        lambda: rpc.rpc_sync("worker1", rpc_worker.fail_oddly, args=(how,), timeout=20),
        lambda: rpc.rpc_async("worker1", rpc_worker.fail_oddly, args=(how,), timeout=20).wait(),
        lambda: rpc.remote("worker1", rpc_worker.fail_oddly, args=(how,), timeout=20).to_here(20),
    )
    for ask in calls:
        with pytest.raises((RuntimeError, ValueError), match=r"^On WorkerInfo\(id=1, name=worker1\)"):
            ask()


def test_missing_code_times_out(module_workers, monkeypatch):
    """Requests for missing code end with the timeout of the call."""

    @ts.jit.script
    def doubled(x: ts.Tensor) -> ts.Tensor:
        return x + x

    calls = []

    def find(name):
        calls.append(name)
        raise UnknownCodeError(name)

    monkeypatch.setattr(current().executor.received_code, "find", find)
    with pytest.raises(RuntimeError, match="ran for more than set timeout"):
        rpc.rpc_sync("worker0", doubled, args=(ts.ones(1),), timeout=0.3)
    with pytest.raises(RuntimeError, match="ran for more than set timeout"):
        rpc.rpc_async("worker0", doubled, args=(ts.ones(1),), timeout=0.3).wait()
    time.sleep(0.3)
    before = len(calls)
    time.sleep(0.2)
    assert len(calls) == before


def test_errors_of_scripts_name_the_function(module_workers):
    """Errors of remote scripts name the function as local errors do."""

    @ts.jit.script
    def reject_negative(x: ts.Tensor) -> ts.Tensor:
        assert bool(x.sum() > 0), "too small"
        return x

    with pytest.raises(RuntimeError, match=r'(?s)", line \d+, in reject_negative.*too small'):
        rpc.rpc_sync("worker1", reject_negative, args=(ts.zeros(2),))
    with pytest.raises(RuntimeError, match=r"^reject_negative\(\) Expected a value of type 'Tensor' for argument 'x'"):
        rpc.rpc_sync("worker1", reject_negative, args=("x",))


def test_messages_of_key_errors(module_workers):
    """The message of a remote KeyError has real line breaks instead of escaped ones."""
    counter = rpc.remote("worker1", rpc_worker.Counter)
    with pytest.raises(KeyError) as raised:
        counter.rpc_sync().boom()
    (text,) = raised.value.args
    assert text.startswith("On WorkerInfo(id=1, name=worker1):\nKeyError('x')\nTraceback")
    with pytest.raises(KeyError) as raised:
        rpc.rpc_sync("worker2", rpc_worker.boom_of, args=(counter,))
    (text,) = raised.value.args
    assert text.startswith("On WorkerInfo(id=2, name=worker2):\nKeyError(") and text.endswith("\n")
