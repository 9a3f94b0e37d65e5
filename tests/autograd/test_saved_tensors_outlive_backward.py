"""Saved tensors that outlive backward, through hooks or references, raise an error without a crash."""

import threading

import pytest

import ts
from ts.autograd.graph import saved_tensors_hooks

SECOND_BACKWARD_ERROR = "Trying to backward through the graph a second time"


def cube(pack, unpack):
    x = ts.ones(3, requires_grad=True)
    with saved_tensors_hooks(pack, unpack):
        return x, (x * x * x).sum()


def test_unpack_hook_that_runs_backward():
    again = []

    def unpack(x):
        if again:
            again.pop().backward()
        return x

    _, y = cube(lambda x: x, unpack)
    again.append(y)
    with pytest.raises(RuntimeError, match=SECOND_BACKWARD_ERROR):
        y.backward()


def test_two_threads_of_which_one_waits_in_a_hook():
    entered, released = threading.Event(), threading.Event()
    errors = []

    def unpack(x):
        if threading.current_thread().name == "slow":
            entered.set()
            assert released.wait(60)
        return x

    def slow():
        try:
            y.backward()
        except RuntimeError as error:
            errors.append(str(error))

    _, y = cube(lambda x: x, unpack)
    thread = threading.Thread(target=slow, name="slow")
    thread.start()
    assert entered.wait(60)
    y.backward()
    released.set()
    thread.join()
    assert len(errors) == 1 and errors[0].startswith(SECOND_BACKWARD_ERROR)


@pytest.mark.parametrize("use", [lambda r: r.data, lambda r: r.register_hooks(lambda x: x, lambda x: x)])
def test_released_saved_tensors_raise(use):
    x = ts.ones(3, requires_grad=True)
    y = x * x
    saved = y.grad_fn._raw_saved_self
    y.sum().backward()
    with pytest.raises(RuntimeError, match=SECOND_BACKWARD_ERROR):
        use(saved)
