"""Profiler labels and `Variable` have PyTorch's graphs and source in scripts, and its results in Python."""

import pytest

import ts

torch = pytest.importorskip("torch")


def labelled(x, y):
    with torch.autograd.profiler.record_function("foo"):
        with torch.autograd.profiler.record_function("nested", "args"):
            a = x + y
    return a


def test_in_scripts():
    ours, theirs = ts.jit.script(labelled), torch.jit.script(labelled)
    assert str(ours.graph) == str(theirs.graph) and ours.code == theirs.code
    assert ours(ts.ones(1), ts.ones(1)).item() == 2


def test_in_python():
    @ts.autograd.profiler.record_function("f")
    def f(x):
        with ts.autograd.profiler.record_function("inside") as label:
            return x + 1, label.name

    assert f(2) == (3, "inside") and f.__name__ == "f"
    with pytest.raises(ValueError, match="passes through"), ts.autograd.profiler.record_function("g"):
        raise ValueError("passes through")


def test_variable():
    for m in (ts, torch):
        x = m.zeros(2)
        v = m.autograd.Variable(x)
        v[0] = 3
        assert x.tolist() == [3, 0] and isinstance(v, m.Tensor) and not v.requires_grad
        assert isinstance(x, m.autograd.Variable) and not isinstance(3, m.autograd.Variable)
        assert m.autograd.Variable(x, requires_grad=True).requires_grad


def test_grad_modes():
    with ts.autograd.no_grad():
        assert not ts.is_grad_enabled()
        with ts.autograd.enable_grad():
            assert ts.is_grad_enabled()
