"""With `TS_JIT=0`, functions, classes, modules, interfaces and overloads stay Python objects."""

import enum
from typing import List

import pytest

import ts


@pytest.fixture(autouse=True, params=["TS_JIT", "PYTORCH_JIT", "disable"])
def off(request, monkeypatch):
    if request.param == "disable":
        ts.jit.disable()
        yield
        ts.jit.enable()
    else:
        monkeypatch.setenv(request.param, "0")
        yield


class Counter:
    def __init__(self, count: int):
        self.count = count


class Color(enum.Enum):
    RED = 1


def generator(x):
    """A generator, which TorchScript does not support."""
    yield x


@pytest.mark.parametrize("scriptable", [generator, Counter, Color, Counter(1), [1], {"a": 1}, 3, ts.nn.Linear(1, 1)])
def test_script_returns_its_argument(scriptable):
    assert ts.jit.script(scriptable) is scriptable


def test_decorated_class_is_the_class():
    @ts.jit.script
    class Stack:
        def __init__(self):
            self.items = {1, 2}  # scripts do not support sets

    assert Stack().items == {1, 2}


def test_modules():
    class Layer(ts.nn.Module):
        @ts.jit.export
        def exported(self, x):
            return {x}

        @ts.jit.ignore
        def ignored(self, x):
            return x

        @ts.jit.unused
        def unused(self, x):
            return x

        def forward(self, x):
            return self.exported(x), self.ignored(x), self.unused(x)

    assert ts.jit.script(Layer())(3) == ({3}, 3, 3)


def test_script_modules():
    class Layer(ts.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.weight = ts.nn.Parameter(ts.ones(1))

        @ts.jit.script_method
        def forward(self, x):
            return {x}

    layer = Layer()
    assert layer(3) == {3} and [name for name, _ in layer.named_parameters()] == ["weight"]


def test_interfaces():
    @ts.jit.interface
    class Shape:
        def area(self) -> int:
            pass

    assert isinstance(Shape, type)


def test_overloads():
    @ts.jit.overload
    def same(x: int) -> int: ...

    @ts.jit.overload
    def same(x: str) -> str: ...

    def same(x):
        return x

    def use():
        return same(1), same("a"), same({2})

    assert ts.jit.script(use)() == (1, "a", {2})


def test_other_functions_work_in_python():
    """Functions around scripts, such as `fork` and `annotate`, work in Python."""
    assert ts.jit.wait(ts.jit.fork(lambda x: x + 1, 2)) == 3
    assert ts.jit.annotate(List[int], []) == [] and not ts.jit.is_scripting()
    assert ts.jit.script_if_tracing(lambda x: x)(3) == 3
    assert ts.jit.CompilationUnit("def f(x: int):\n    return x + 1\n").f(3) == 4


@pytest.mark.parametrize("variable", ["TS_JIT", "PYTORCH_JIT"])
@pytest.mark.parametrize(("setting", "on"), [("false", False), ("No", False), ("YES", True), ("1", True)])
def test_values_of_ts_jit(variable, setting, on, monkeypatch):
    """`TS_JIT` and PyTorch's variable accept PyTorch's settings."""
    ts.jit.enable()
    monkeypatch.delenv("TS_JIT", raising=False)
    monkeypatch.setenv(variable, setting)
    assert (ts.jit.script(increment) is not increment) == on


@pytest.mark.parametrize("setting", ["", "x", "2", " 0", "off"])
def test_unknown_values_of_ts_jit(setting, monkeypatch):
    """An unknown setting of `TS_JIT` raises ValueError."""
    ts.jit.enable()
    monkeypatch.setenv("TS_JIT", setting)
    with pytest.raises(ValueError, match=r"^Unknown setting of TS_JIT\. Try using 0 or 1"):
        ts.jit.script(increment)


def increment(x: int) -> int:
    return x + 1
