"""The threads of operators: `set_num_threads`, `get_num_threads`."""

import pytest

import ts
from ts.backends.cpu.kernels import blas_thread_limit


@pytest.fixture
def restored():
    before = ts.get_num_threads()
    yield before
    ts.set_num_threads(before)


def test_number_of_threads(restored):
    for count in (1, 2):
        ts.set_num_threads(count)
        assert ts.get_num_threads() == count


def test_products_do_not_depend_on_threads(restored):
    a = ts.rand(300, 300, dtype=ts.float64)
    before = a @ a
    ts.set_num_threads(1)
    assert ts.allclose(a @ a, before)


@pytest.mark.parametrize(
    "count, message",
    [
        (0, "set_num_threads expects a positive integer"),
        (2.0, "set_num_threads expects an int, but got float"),
        (True, "set_num_threads expects an int, but got bool"),
    ],
)
def test_messages_of_pytorch(count, message):
    with pytest.raises(RuntimeError) as failure:
        ts.set_num_threads(count)
    assert str(failure.value) == message


def test_libraries_run_on_one_thread_inside_operators_only():
    outside = blas_thread_limit.thread_counts()
    assert blas_thread_limit.call_single_threaded(blas_thread_limit.thread_counts) == [1] * len(outside)
    assert blas_thread_limit.thread_counts() == outside


def test_failing_operators_restore_the_threads_of_libraries():
    outside = blas_thread_limit.thread_counts()
    with pytest.raises(RuntimeError):
        ts.linalg.inv(ts.zeros(3, 3))
    with pytest.raises(RuntimeError):
        ts.zeros(2, 3) @ ts.zeros(2, 3)
    assert blas_thread_limit.thread_counts() == outside
