"""The threads of operators: `set_num_threads`, `get_num_threads`."""

import sys
from types import SimpleNamespace

import pytest

import ts
from ts import threads


@pytest.fixture
def restored():
    before = ts.get_num_threads()
    yield before
    ts.set_num_threads(before)


def test_what_was_set_is_found(restored):
    for count in (1, 2):
        ts.set_num_threads(count)
        assert ts.get_num_threads() == count


def test_products_are_the_same_on_one_thread(restored):
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


def test_unknown_library_is_said_so(restored, monkeypatch):
    monkeypatch.setattr(threads, "_setters", lambda: iter(()))
    monkeypatch.setattr(threads, "_has_threadpoolctl", lambda: False)
    with pytest.warns(UserWarning, match="install threadpoolctl"):
        ts.set_num_threads(2)


def test_threadpoolctl_is_asked_where_it_is_installed(restored, monkeypatch):
    calls = []
    module = SimpleNamespace(threadpool_limits=lambda **kwargs: calls.append(kwargs))
    monkeypatch.setitem(sys.modules, "threadpoolctl", module)
    monkeypatch.setattr(threads, "_has_threadpoolctl", lambda: True)
    ts.set_num_threads(3)
    assert calls == [{"limits": 3, "user_api": "blas"}]
    assert ts.get_num_threads() == 3
