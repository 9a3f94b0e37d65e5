"""Failures and rejected operations of distributed autograd."""

import threading

import pytest

import ts
from tests.distributed import dist_autograd_functions as functions
from tests.distributed import rpc_worker
from ts.distributed import autograd as dist_autograd
from ts.distributed import rpc
from ts.distributed.rpc.state import current
from ts.distributed.wire_values import MalformedValueError, Tag


@pytest.fixture
def x():
    return ts.tensor([1.0, 2.0], requires_grad=True)


def refused(text, f, *args, error=RuntimeError):
    with pytest.raises(error, match=text):
        f(*args)


def test_contexts_do_not_nest(module_workers):
    """A thread is in at most one context; threads may be in different contexts."""
    ids = []
    with dist_autograd.context() as context_id:
        refused("Already have an autograd context id for this thread", dist_autograd.context().__enter__)
        assert dist_autograd._current_context()._context_id() == context_id

        def in_thread():
            with dist_autograd.context() as other:
                ids.append(other)

        thread = threading.Thread(target=in_thread)
        thread.start()
        thread.join()
    assert ids
    assert ids[0] != context_id
    assert context_id >> 32 == 0
    refused("Current thread doesn't have a valid autograd context", dist_autograd._current_context)


@pytest.mark.parametrize("ask", [dist_autograd.get_gradients, dist_autograd._is_valid_context])
def test_invalid_context_numbers(module_workers, ask):
    """Unknown context numbers and numbers of ended contexts raise an error."""
    refused("Could not find autograd context with id: 12345", ask, 12345)
    with dist_autograd.context() as context_id:
        pass
    refused(f"Could not find autograd context with id: {context_id}", ask, context_id)


def test_roots(module_workers, x):
    """Roots must be scalars with a gradient function."""
    with dist_autograd.context() as context_id:
        for roots, text in [
            ([], "No tensors provided for gradient computation"),
            ([ts.ones([])], "requires_grad not set on root"),
            ([x * 2], "is not a scalar, all roots need to be scalar"),
            ([ts.ones([], requires_grad=True)], "does not have a valid gradient function"),
        ]:
            refused(text, dist_autograd.backward, context_id, roots)
        refused("roots", dist_autograd.backward, context_id, x.sum(), error=TypeError)
        refused("Could not find autograd context", dist_autograd.backward, 77, [x.sum()])


def test_errors_in_remote_backward(module_workers, x):
    """An error in remote backward is raised in the caller with the process number; the next pass succeeds."""
    with dist_autograd.context() as context_id:
        z = rpc.rpc_sync("worker2", functions.mul, (x, x))
        loss = rpc.rpc_sync("worker1", functions.failing, (z,)).sum()
        refused("Error on Node 0: Error on Node 1: no way back", dist_autograd.backward, context_id, [loss])
        assert dist_autograd.get_gradients(context_id) == {}
        dist_autograd.backward(context_id, [z.sum()])
        assert dist_autograd.get_gradients(context_id)[x].tolist() == [2, 4]


def test_values_of_a_context_that_has_ended(module_workers, x):
    """Backward to a value received in another context raises an error, because that context has ended."""
    with dist_autograd.context():
        before = rpc.rpc_sync("worker1", functions.mul, (x, x))
    with dist_autograd.context() as context_id:
        refused("Autograd context no longer valid", dist_autograd.backward, context_id, [before.sum()])
        after = rpc.rpc_sync("worker1", functions.mul, (before, before)).sum()
        refused("Autograd context no longer valid", dist_autograd.backward, context_id, [after])


def test_local_backward_of_a_remote_loss(module_workers, x):
    """`loss.backward()` raises an error for a loss that other processes computed."""
    with dist_autograd.context():
        product = rpc.rpc_sync("worker1", functions.mul, (x, x))
        refused("distributed.autograd.backward", product.sum().backward)


def test_a_callee_that_raises(module_workers, x):
    """A context can be used after a call that failed."""
    with dist_autograd.context() as context_id:
        refused("bad 3", rpc.rpc_sync, "worker1", rpc_worker.fail, (3,), error=ValueError)
        dist_autograd.backward(context_id, [rpc.rpc_sync("worker1", functions.mul, (x, x)).sum()])
        assert dist_autograd.get_gradients(context_id)[x].tolist() == [2, 4]
    refused("Already|Current thread", dist_autograd._current_context)


def test_responses_after_the_end_of_a_context(module_workers, x):
    """A response that arrives after the end of its context raises an error."""
    with dist_autograd.context() as context_id:
        future = rpc.rpc_async("worker1", rpc_worker.sleep, (0.5, x))
    refused(f"Could not find autograd context with id: {context_id}", future.wait)


MALFORMED = [
    (Tag.WITH_GRADIENTS, "1", 1, 0, None),
    (Tag.WITH_GRADIENTS, 5, 1, 0, None),
    (Tag.WITH_GRADIENTS, 1 << 32, 9, 0, None),
    (Tag.WITH_GRADIENTS, 9 << 32, 1, 0, None),
    (Tag.WITH_GRADIENTS, -1, 1, 0, None),
    (Tag.WITH_GRADIENTS, [], 1, 0, None),
    (Tag.WITH_GRADIENTS, 1 << 32, [], 0, None),
    (Tag.WITH_GRADIENTS, 1 << 32, 1, "0", (Tag.TENSOR, 6, 4, 0, 0, (1,), (1,))),
    (Tag.WITH_GRADIENTS, 1 << 32, 1, 0, (Tag.TENSOR, 4, 4, 0, 0, (1,), (1,))),
    (Tag.WITH_GRADIENTS, 1 << 32, 1, 0, (Tag.WITH_GRADIENTS, 1 << 48, 1, 0, None)),
    (Tag.TENSOR, 6, 4, 0, 0, (1,), (1,)),
]


@pytest.mark.parametrize("data", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_autograd_headers(module_workers, data):
    """A malformed autograd header of a message raises an error in the sender."""
    with pytest.raises((ValueError, RuntimeError, MalformedValueError)):
        current().codec.unpack((data, [bytearray(8)]))


def send_raw_message(*message):
    """Send a raw message to another process and return the answer."""
    agent = current()
    return agent.endpoint.submit(agent.peer("worker1"), list(message), 10.0).wait()


def test_malformed_messages(module_workers, x):
    """Malformed autograd messages are answered with an error, and the receiving process continues."""
    with dist_autograd.context() as context_id:
        rpc.rpc_sync("worker1", functions.mul, (x, x))
        for message in [
            ("links", 99), ("links", "a"), ("links",), ("begin", context_id, 1, [0], 2), ("nothing",),
            ("begin", context_id, 1, [7], True), ("begin", context_id, 2, 7, True),
            ("begin", context_id, 3, [[]], True), ("gradients", 99, 1, 0, None, []), ("end",),
            ("gradients", context_id, 1, 0, (77,), []),
        ]:  # fmt: skip
            with pytest.raises((ValueError, RuntimeError, TypeError)):
                send_raw_message("backward", *message)
        for message in [("new",), ("new", 1, []), ("step", None, []), ("step", (Tag.LIST, 1, 2), [])]:
            with pytest.raises((ValueError, RuntimeError, TypeError, AttributeError)):
                send_raw_message("optimizer", *message)
        dist_autograd.backward(context_id, [rpc.rpc_sync("worker1", functions.mul, (x, x)).sum()])
        assert dist_autograd.get_gradients(context_id)[x].tolist() == [2, 4]


def test_mismatched_received_gradients(module_workers, x):
    """Received gradients of another shape, dtype or number than the tensors raise an error in backward."""
    with dist_autograd.context() as context_id:
        rpc.rpc_sync("worker1", functions.mul, (x, x))
        for number, gradients in enumerate([[ts.ones(3)], [ts.ones(2).double()], [1], [], 3, [None, None]]):
            agent = current()
            backward_call = agent.endpoint.submit(
                agent.peer("worker1"), ["backward", "begin", context_id, number, [0], True], 10.0
            )
            data, memory = agent.codec.pack(gradients, None)
            send_raw_message("backward", "gradients", context_id, number, 0, data, memory)
            refused("gradient", backward_call.wait)


def test_encoding_of_context_ids():
    """Context ids are encoded by msgpack, including those of a process with a large scheduler-assigned
    worker id."""
    msgpack = pytest.importorskip("msgpack")
    from types import SimpleNamespace

    from ts.distributed.dist_autograd.contexts import DistAutogradContainer

    number = DistAutogradContainer(SimpleNamespace(worker_id=(1 << 31) + 5)).new_id()
    assert msgpack.unpackb(msgpack.packb(number)) == number
