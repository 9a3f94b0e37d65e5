"""Tests of the tracebacks of errors that leave an operator call (`ts._core.thread.internal_frames`)."""

import operator
import warnings

import pytest

import ts
import ts.nn.functional as F

X, Y = ts.ones(2, 3), ts.ones(4, 5)
INTEGERS, FLOATS = ts.ones(2, 3, dtype=ts.int64), ts.ones(2, 3)
SHAPES = "add sub mul truediv floordiv mod pow matmul eq ne lt le gt ge iadd isub imul itruediv ifloordiv imod ipow"
BITS = "and_ or_ xor lshift rshift iand ior ixor ilshift irshift"


def traceback_functions(call, *args):
    """Return (module, function) of each traceback entry of the error of a call, below this function."""
    with pytest.raises(Exception) as failure:
        call(*args)
    frame, result = failure.value.__traceback__.tb_next, []
    while frame is not None:
        result.append((frame.tb_frame.f_globals["__name__"], frame.tb_frame.f_code.co_name))
        frame = frame.tb_next
    return result


@pytest.mark.parametrize("name", SHAPES.split())
def test_python_operators(name):
    """The traceback of a Python operator ends at the user's expression."""
    assert traceback_functions(getattr(operator, name), X, Y) == []


@pytest.mark.parametrize("name", BITS.split())
def test_bitwise_operators(name):
    assert traceback_functions(getattr(operator, name), INTEGERS, ts.ones(4, 5, dtype=ts.int64)) == []
    assert traceback_functions(operator.invert, FLOATS) == []


@pytest.mark.parametrize("call", [ts.add, ts.Tensor.add_, F.linear, ts.matmul, ts.Tensor.__add__, ts.Tensor.__rsub__])
def test_functions_and_methods(call):
    """The traceback of an operator call by name ends at the user's call."""
    assert traceback_functions(call, X, Y) == []


def test_arguments():
    """Errors of the argument conversion and of subscripts have no internal frames either."""
    assert traceback_functions(ts.add, X, "a") == []
    assert traceback_functions(lambda: X[5])[1:] == []
    assert traceback_functions(operator.setitem, ts.ones(2), 5, 1.0) == []
    assert traceback_functions(operator.neg, ts.tensor([True])) == []


class Subclass(ts.Tensor):
    """A class that inherits the operators."""


class Failing(ts.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise KeyError("user")


def test_subclasses():
    """Subclasses inherit the operators that remove internal frames; the frames of handlers remain."""
    assert traceback_functions(operator.add, X.as_subclass(Subclass), Y) == []
    assert traceback_functions(operator.neg, ts.tensor([True]).as_subclass(Subclass)) == []
    assert traceback_functions(operator.sub, ts.nn.Parameter(X), Y) == []
    assert traceback_functions(operator.add, X.as_subclass(Failing), Y) == [(__name__, "__torch_function__")]
    assert traceback_functions(F.dropout, X.as_subclass(Failing)) == [(__name__, "__torch_function__")]


def test_frames_of_python_modules():
    """The frames of Python modules outside of the dispatcher remain, as in PyTorch."""
    modules = [name for name, _ in traceback_functions(ts.nn.Linear(4, 5), X)]
    assert modules == ["ts.nn.modules.module", "ts.nn.modules.linear"]


def test_registered_kernels():
    """The frames of kernels that the user registered remain, with the functions that they call."""
    library = ts.library.Library("internal_frames", "DEF")
    library.define("fails(Tensor x) -> Tensor")

    def helper(x):
        return x + Y

    def kernel(x):
        return helper(x)

    library.impl("fails", kernel, "CPU")
    names = [name for module, name in traceback_functions(ts.ops.internal_frames.fails, X) if module == __name__]
    assert names == ["kernel", "helper"]


def test_autograd_functions():
    """The frames of `forward`, `backward` and hooks remain."""

    class Function(ts.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad + Y

    def hook(grad):
        return grad + Y

    x = ts.ones(2, 3, requires_grad=True)
    assert traceback_functions(Function.apply(x).sum().backward)[-1] == (__name__, "backward")
    y = x * 2
    y.register_hook(hook)
    assert traceback_functions(y.sum().backward)[-1] == (__name__, "hook")


def test_error_is_unchanged():
    """An error of user code keeps its identity, cause, context and arguments."""
    cause, error = ValueError("cause"), KeyError("user", 3)

    class Raising(ts.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise error from cause

    with pytest.raises(KeyError) as failure:
        ts.add(X.as_subclass(Raising), Y)
    assert failure.value is error
    assert error.__cause__ is cause
    assert error.args == ("user", 3)


def test_warnings_as_errors():
    """A warning that is raised as an error also has no internal frames."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert traceback_functions(ts.Tensor.resize, ts.ones(2), 2)[1:] == []


def test_show_internal(monkeypatch):
    """With TS_SHOW_INTERNAL=1, all frames remain."""
    monkeypatch.setenv("TS_SHOW_INTERNAL", "1")
    assert len(traceback_functions(operator.add, X, Y)) > 5


def test_recursion():
    """An error at the end of the Python stack is raised without a crash."""

    class Recursive(ts.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(*args)

    assert (__name__, "__torch_function__") in traceback_functions(operator.add, X.as_subclass(Recursive), Y)
