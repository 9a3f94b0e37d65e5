"""`__torch_function__` for tensor subclasses, other classes and modes, except comparisons in
tests/pytorch_parity/test_overrides.py."""

import copy
import pickle
import threading

import pytest

import ts
import ts.nn.functional as F
from ts.overrides import (
    BaseTorchFunctionMode,
    TorchFunctionMode,
    get_ignored_functions,
    get_overridable_functions,
    get_testing_overrides,
    handle_torch_function,
    has_torch_function,
    is_tensor_like,
    is_tensor_method_or_property,
    resolve_name,
    wrap_torch_function,
)


class Logged(ts.Tensor):
    """Records the functions passed to `__torch_function__`."""

    seen: list = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(func)
        return super().__torch_function__(func, types, args, kwargs)


class Unit:
    """A number times the unit matrix; not a Tensor."""

    def __init__(self, n, value):
        self.n, self.value = n, value

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in KNOWN or not all(issubclass(t, ts.Tensor | Unit) for t in types):
            return NotImplemented
        return KNOWN[func](*args, **(kwargs or {}))


ts.zeros(1).add(1)  # registers the methods of Tensor
KNOWN = {
    ts.mean: lambda x: x.value / x.n,
    ts.Tensor.add: lambda x, y: x + y.value if isinstance(y, Unit) else Unit(x.n, x.value + y),
    F.relu: lambda x, inplace=False: Unit(x.n, max(x.value, 0)),
    F.linear: lambda x, weight, bias=None: "linear",
    ts.cat: lambda tensors, dim=0: len(tensors),
}


def logged(value):
    Logged.seen.clear()
    return value


def test_results_are_of_the_class():
    x = ts.ones(2, 3).as_subclass(Logged)
    results = [x + 1, 1 - x, x.sum(), x[0], x.T, F.relu(x), x.to(ts.float64), x.max(1), ts.cat([ts.ones(1, 3), x])]
    assert [type(r).__name__ for r in results] == ["Logged"] * 7 + ["max", "Logged"]
    assert all(type(part) is Logged for part in results[7])
    assert type(x.shape) is ts.Size and type(x.grad) is type(None)


def test_functions_passed_to_torch_function():
    x = ts.ones(2, 2).as_subclass(Logged)
    logged(None)
    x + 1, ts.add(x, 1), x.add(1), F.relu(x), F.linear(x, x), x[0], x.shape, x.size(), -x
    assert Logged.seen == [
        ts.Tensor.add, ts.add, ts.Tensor.add, F.relu, F.linear, ts.Tensor.__getitem__, ts.Tensor.shape.__get__,
        ts.Tensor.size, ts.Tensor.neg,
    ]  # fmt: skip


def test_gradients():
    x = ts.ones(2, requires_grad=True)
    y = x.as_subclass(Logged)
    (y * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and type(x.grad) is ts.Tensor


def test_memory_is_shared():
    x = ts.zeros(3)
    x.as_subclass(Logged)[1] = 5
    assert x.tolist() == [0.0, 5.0, 0.0]
    assert ts.Tensor._make_subclass(Logged, x, True).requires_grad


def test_without_overriding():
    class Plain(ts.Tensor):
        __torch_function__ = ts._C._disabled_torch_function_impl

    x = ts.ones(2).as_subclass(Plain)
    assert type(x) is Plain and type(x + 1) is ts.Tensor and type(x[0]) is ts.Tensor
    with ts._C.DisableTorchFunctionSubclass():
        y = ts.ones(2).as_subclass(Logged)
        assert type(y + 1) is ts.Tensor


def test_non_tensor_classes():
    unit = Unit(4, 2.0)
    assert ts.mean(unit) == 0.5
    assert ts.ones(1).add(unit).tolist() == [3.0] and (ts.ones(1) + unit).tolist() == [3.0]
    assert F.relu(Unit(2, -1.0)).value == 0 and F.linear(unit, ts.ones(1), bias=unit) == "linear"
    assert ts.cat([ts.ones(1), unit]) == 2
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch\.sub'"):
        ts.sub(unit, 1)
    with pytest.raises(TypeError, match="unsupported operand"):
        ts.ones(1) - unit
    x = ts.ones(1)
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for -="):
        x -= unit


def test_derived_classes_are_asked_first():
    order = []

    class Base(ts.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            order.append(cls.__name__)
            return NotImplemented

    class Further(Base):
        pass

    class Other(Base):
        pass

    x, y, z = (ts.ones(1).as_subclass(c) for c in (Base, Further, Other))
    with pytest.raises(TypeError):
        ts.stack([x, y, z, y])
    assert order == ["Further", "Other", "Base"]


def test_modes():
    class Log(TorchFunctionMode):
        def __init__(self):
            super().__init__()
            self.names = []

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.names.append(resolve_name(func))
            return func(*args, **(kwargs or {}))

    with Log() as log, BaseTorchFunctionMode():
        x = ts.ones(2)
        x + 1, F.relu(x), x[0], x.shape
        x[0] = 2
    x + 1
    prefix = "torch.Tensor."
    assert log.names == ["torch.ones", prefix + "add", "torch.nn.functional.relu", prefix + "__getitem__",
                         prefix + "shape.__get__", prefix + "__setitem__"]  # fmt: skip


def test_a_mode_may_change_results_and_fail():
    class Zero(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func is ts.mul:
                raise ValueError("no products")
            return 0 if func is ts.add else func(*args, **(kwargs or {}))

    with Zero():
        assert ts.add(ts.ones(2), 1) == 0 and ts.sub(ts.ones(2), 1).tolist() == [0.0, 0.0]
        with pytest.raises(ValueError, match="no products"):
            ts.mul(ts.ones(1), 2)
        assert ts.add(1, 2) == 0
        results = []
        thread = threading.Thread(target=lambda: results.append(ts.add(ts.ones(1), 1)))
        thread.start()
        thread.join()
        assert results[0].tolist() == [2.0]
    assert ts.add(ts.ones(1), 1).tolist() == [2.0]


def test_scripts_see_no_classes():
    @ts.jit.script
    def f(x: ts.Tensor):
        return F.relu(x) + 1

    logged(None)
    assert f(ts.ones(2).as_subclass(Logged)).tolist() == [2.0, 2.0]
    assert Logged.seen == []


def test_functions_of_programs():
    @wrap_torch_function(lambda x, scale=1: (x,))
    def scaled(x, scale=1):
        return x * scale

    assert scaled(ts.ones(1), scale=3).tolist() == [3.0]
    KNOWN[scaled] = lambda x, scale=1: ("scaled", scale)
    assert scaled(Unit(1, 1.0), scale=2) == ("scaled", 2)
    del KNOWN[scaled]
    with pytest.raises(TypeError, match="no implementation found for"):
        scaled(Unit(1, 1.0))
    assert has_torch_function([1, Unit(1, 1.0)]) and not has_torch_function([ts.ones(1), None])
    assert handle_torch_function(F.relu, [Unit(1, 1.0)], Unit(1, 3.0)).value == 3.0


def test_queries():
    assert is_tensor_like(Unit(1, 1)) and is_tensor_like(ts.ones(1)) and not is_tensor_like(3)
    assert resolve_name(ts.add) == "torch.add" and resolve_name(F.relu) == "torch.nn.functional.relu"
    assert is_tensor_method_or_property(ts.Tensor.add) and not is_tensor_method_or_property(ts.add)
    functions = get_overridable_functions()
    assert ts.add in functions[ts] and F.relu in functions[F] and ts.Tensor.size in functions[ts.Tensor]
    assert get_testing_overrides()[ts.add](1, 2) == -1
    assert ts.add not in get_ignored_functions()


def test_copies_and_pickles():
    x = ts.ones(2).as_subclass(Logged)
    with pytest.raises(RuntimeError, match=r"only works for subclass types that implement new_empty\(\)"):
        copy.deepcopy(x)
    assert pickle.loads(pickle.dumps(F.relu)) is F.relu
    assert repr(x) == "Logged([1., 1.])"
