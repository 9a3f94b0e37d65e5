"""Constructors that `ts.nn.modules.hyperparameters` generates behave like written constructors."""

import copy
import inspect
import pickle
import traceback
import typing
from dataclasses import KW_ONLY, InitVar, dataclass  # named in annotations

import pytest

import ts
from ts.nn.modules.hyperparameters import PrintedModule, hyperparameters
from ts.nn.modules.module import Module


@hyperparameters
class Scaled(PrintedModule):
    """Multiplies its input."""

    factor: "float"
    offset: "InitVar[float]" = 0.5
    count: "int" = 2

    def __post_init__(self, offset):
        self.register_buffer("shift", ts.full((self.count,), offset))

    def forward(self, x: ts.Tensor):
        return x * self.factor + self.shift


class Derived(Scaled):
    """Annotations of a class without the decorator do not change the constructor."""

    name: str = "derived"

    def __init__(self, factor):
        super().__init__(factor, count=3)


class Mixin(Module):
    def __init__(self):
        super().__init__()
        self.prepared = True


class Cooperative(Scaled, Mixin):
    """The generated constructor calls the next one in method resolution order."""


@hyperparameters(kw_only=True)
class KeywordOnly(Module):
    first: "int" = 1
    second: "str"


def test_the_signature_is_the_annotated_one():
    """The signature, name and annotations are those of a written constructor."""

    def written(self, factor: "float", offset: "float" = 0.5, count: "int" = 2) -> "None": ...

    assert inspect.signature(Scaled.__init__) == inspect.signature(written)
    assert str(inspect.signature(Scaled)) == "(factor: 'float', offset: 'float' = 0.5, count: 'int' = 2) -> 'None'"
    assert Scaled.__init__.__qualname__ == "Scaled.__init__" and Scaled.__init__.__module__ == __name__
    assert str(inspect.signature(KeywordOnly)) == "(*, first: 'int' = 1, second: 'str') -> 'None'"


def test_arguments_become_attributes():
    """Arguments are stored in order; an InitVar reaches only `__post_init__`; classes have no such attributes."""
    module = Scaled(3.0, 1.0)
    assert module.factor == 3.0 and module.count == 2 and module.shift.tolist() == [1.0, 1.0]
    assert [name for name in vars(module) if not name.startswith("_") and name != "training"] == ["factor", "count"]
    assert not hasattr(module, "offset") and not hasattr(Scaled, "count") and not hasattr(Scaled, "offset")
    assert Scaled.__constants__ == ["factor", "count"]
    assert repr(module) == "Scaled(factor=3.0, count=2)"
    assert KeywordOnly(second="b").first == 1


@pytest.mark.parametrize(
    "arguments, keywords, text",
    [
        ((), {}, "Scaled.__init__() missing 1 required positional argument: 'factor'"),
        ((1, 2, 3, 4), {}, "Scaled.__init__() takes from 2 to 4 positional arguments but 5 were given"),
        ((1,), {"size": 2}, "Scaled.__init__() got an unexpected keyword argument 'size'"),
    ],
)
def test_wrong_arguments(arguments, keywords, text):
    """Errors about arguments name the class, as for a written constructor."""
    with pytest.raises(TypeError) as caught:
        Scaled(*arguments, **keywords)
    assert str(caught.value) == text


def test_subclasses():
    """A subclass may call the constructor; its annotations add no arguments; `super` is cooperative."""
    assert Derived(2.0).count == 3 and Derived.name == "derived"
    assert Cooperative(2.0).prepared and Cooperative(2.0).shift.tolist() == [0.5, 0.5]


def test_a_dataclass_with_its_own_post_init():
    """`__post_init__` of a subclass that is a dataclass is not called by the constructor of its base class."""

    @dataclass(eq=False)
    class Pool(ts.nn.MaxPool2d):
        width: int

        def __post_init__(self):
            super().__init__(self.width)

    assert Pool(3).kernel_size == 3 and Pool(3).stride == 3


def test_copies_and_scripts():
    """Modules can be pickled, copied and compiled; the hyperparameters are constants of the script."""
    module = Scaled(3.0)
    for copied in (pickle.loads(pickle.dumps(module)), copy.deepcopy(module)):
        assert repr(copied) == repr(module) and copied.shift.tolist() == [0.5, 0.5]
    scripted = ts.jit.script(module)
    assert scripted(ts.ones(2)).tolist() == [3.5, 3.5]
    assert "3." in str(scripted.graph) and 'name="factor"' not in str(scripted.graph)


def test_the_traceback_names_the_constructor():
    """The frame of a generated constructor is identified by the name of its class."""
    with pytest.raises(ValueError, match="between 0 and 1") as caught:
        ts.nn.Dropout(2.0)
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "<constructor of _DropoutNd>" in files


@hyperparameters
class Mixed(Module):
    first: "int"
    second: "int" = 2
    _: "KW_ONLY"
    third: "int" = 3
    fourth: "InitVar[int]"

    def __post_init__(self, fourth):
        self.total = self.first + self.second + self.third + fourth


def test_keyword_only_arguments():
    """Arguments after `_: KW_ONLY` are keyword-only, and may lack a default value."""
    assert str(inspect.signature(Mixed)) == "(first: 'int', second: 'int' = 2, *, third: 'int' = 3, fourth: 'int') -> 'None'"
    assert Mixed(1, fourth=4).total == 10 and Mixed.__constants__ == ["first", "second", "third"]
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'fourth'"):
        Mixed(1)


def test_decorated_base_classes_are_rejected():
    """A class with a decorated base class is an error, since type checkers would add the arguments of the base."""
    with pytest.raises(TypeError, match="Wider: the base class Scaled is decorated, too"):

        @hyperparameters
        class Wider(Scaled):
            width: "int" = 1


def test_annotations_and_source_of_generated_constructors():
    """Annotations of all constructors can be evaluated, and `inspect` finds the generated source text."""
    classes = [getattr(ts.nn, name) for name in dir(ts.nn)]
    for cls in classes:
        if isinstance(cls, type) and issubclass(cls, ts.nn.Module):
            assert "self" not in typing.get_type_hints(cls.__init__)
    assert typing.get_type_hints(ts.nn.Dropout.__init__)["p"] is float
    assert "self.kernel_size = kernel_size" in inspect.getsource(ts.nn.MaxPool2d.__init__)
