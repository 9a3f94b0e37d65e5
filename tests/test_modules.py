"""Scripted modules: shared types, names, and state shared with the original module."""

from typing import Optional, Set, Tuple

import pytest

import ts
from ts import nn
from ts.frontend import naming


class Scale(nn.Module):
    __constants__ = ["by"]

    def __init__(self, by, size=2):
        super().__init__()
        self.by = by
        self.weight = nn.Parameter(ts.ones(size))

    def forward(self, x):
        return x * self.weight * self.by


def test_equal_instances_share_a_type():
    """Instances share a type if their constants are equal; values of parameters may differ."""
    one, other, third = (ts.jit.script(Scale(*args)) for args in ((2,), (2, 5), (3,)))
    assert ts.jit.module_type(one) is ts.jit.module_type(other)
    assert ts.jit.module_type(one) is not ts.jit.module_type(third)
    assert third(ts.ones(2)).tolist() == [3.0, 3.0]


def test_module_types_have_unique_names():
    """A second type of the same class has a mangled name, which graph text contains."""
    first, second = ts.jit.script(Scale(10)), ts.jit.script(Scale(11))
    names = [ts.jit.module_type(m).qualified_name() for m in (first, second)]
    assert len(set(names)) == 2 and all(name.startswith("__torch__.") for name in names)
    assert f"%self : {names[1]}" in str(second.graph)


def test_the_same_name_again():
    """A class can be declared again under a freed name, independent of the first declaration."""

    def make(attribute):
        class Again(nn.Module):
            def __init__(self):
                super().__init__()
                setattr(self, attribute, 3)

            def forward(self):
                return self.training

        return Again()

    for attribute in ("aa", "zz"):
        naming.clear_names()
        scripted = ts.jit.script(make(attribute))
        assert scripted() is True and getattr(scripted, attribute) == 3


def test_clear_class_registry():
    """After the registry is cleared, a module class gets a new type, to which methods can be added again."""

    class Empty(ts.jit.ScriptModule):
        pass

    for _ in range(2):
        ts.jit.clear_class_registry()
        module = Empty()
        module.define("def foo(self, x):\n    return x\n")
        assert str(module.foo.schema).endswith("Empty self, Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="Can't redefine method: foo on class: __torch__"):
        Empty().define("def foo(self, x):\n    return x\n")


def test_parameters_are_shared_with_the_original():
    """A scripted module uses the tensors of the original module."""
    module = Scale(2)
    scripted = ts.jit.script(module)
    assert scripted.weight is module.weight
    module.double()
    assert scripted(ts.ones(2, dtype=ts.float64)).dtype == ts.float64


def test_compilation_errors_are_repeated():
    """A module that does not compile raises its error at each attempt."""

    class Bad(nn.Module):
        def forward(self, x):
            return self.nothing

    for _ in range(2):
        with pytest.raises(RuntimeError, match="Module 'Bad' has no attribute 'nothing'"):
            ts.jit.script(Bad())


def test_class_that_does_not_compile():
    """Attributes of a class that does not compile raise errors only in methods that use them."""

    class Unscriptable:
        def __init__(self, a: int):
            self.a = a

        def get(self) -> bool:
            return issubclass(self.a, int)

    class Holder(nn.Module):
        def __init__(self, use):
            super().__init__()
            self.held = Unscriptable(3)
            self.use: bool = use

        def forward(self, x: int):
            return x

    class User(Holder):
        def forward(self, x: int):
            return self.held.get()

    assert ts.jit.script(Holder(True))(3) == 3
    with pytest.raises(RuntimeError, match="failed to convert Python type"):
        ts.jit.script(User(True))


def test_methods_have_a_self():
    """A method without `self` raises an error at its definition."""
    with pytest.raises(RuntimeError, match="methods must have a self argument"):

        class NoSelf(ts.jit.ScriptModule):
            @ts.jit.script_method
            def forward():
                return 1


def test_reconstructed_module_keeps_python_attributes():
    class One(ts.nn.Module):
        def __init__(self, n):
            super().__init__()
            self.linear = ts.nn.Linear(n, n)

        @ts.jit.ignore
        def ignored(self, x):
            return x

        def forward(self, x):
            return self.linear(x)

    class Two(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = ts.nn.Linear(3, 3)

        def forward(self, x):
            return self.linear(self.linear(x))

    one, two = ts.jit.script(One(2)), ts.jit.script(Two())
    one._reconstruct(two)
    x = ts.rand(3)
    assert one(x).equal(two(x)) and one.linear is two.linear and one.ignored(x) is x


def test_the_mask_of_a_transformer_in_a_script():
    """The static method `generate_square_subsequent_mask` can be called in a script, with and without a
    dtype."""

    class Masked(nn.Module):
        def forward(self, x):
            mask = nn.Transformer.generate_square_subsequent_mask(2, dtype=ts.float64)
            return x + nn.Transformer.generate_square_subsequent_mask(2), mask

    got, double_mask = ts.jit.script(Masked())(ts.zeros(2, 2))
    assert got.equal(nn.Transformer.generate_square_subsequent_mask(2)) and double_mask.dtype == ts.float64


def test_module_of_another_type_is_rejected():
    """A submodule can only be replaced by a module of its type; the error names attribute and types."""

    class Net(ts.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = ts.nn.Linear(1, 1)

        def forward(self, x):
            return self.layer(x)

    scripted = ts.jit.script(Net())
    with pytest.raises(RuntimeError, match=r"Expected a value of type '.*Linear' for field 'layer', but found '.*ReLU'"):
        scripted.layer = ts.jit.script(ts.nn.ReLU())
    scripted.layer = ts.jit.script(ts.nn.Linear(1, 1))


def test_undefined_tensor():
    """None for a Tensor argument is the undefined tensor: not None in scripts, None in Python, invalid as an
    operand."""

    @ts.jit.script
    def is_none(x, scale=None):
        return scale is None

    @ts.jit.script
    def passed(x, scale=None):
        return scale

    @ts.jit.script
    def scaled(x, scale=None):
        return x * scale

    x = ts.ones(2)
    assert str(is_none.schema) == "is_none(Tensor x, Tensor scale=[ Tensor (undefined) ]) -> bool"
    assert is_none(x) is False
    assert passed(x) is None
    assert passed(x, None) is None
    with pytest.raises(RuntimeError, match="Expected a proper Tensor but got None"):
        scaled(x)


def test_types_of_examples_need_no_monkeytype():
    """PyTorch's flag for example inputs is True without the package MonkeyType."""
    from ts.jit._monkeytype_config import _IS_MONKEYTYPE_INSTALLED

    assert _IS_MONKEYTYPE_INSTALLED


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.ReLU(), nn.Tanh()])
        self.weights = nn.ParameterList([ts.ones(1)])
        self.heads = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})

    def forward(self, x):
        for layer in self.layers:
            x = layer(x) + self.weights[0]
        return x


def test_graph_of_a_container():
    """A scripted container has no `forward`; parameter containers have PyTorch's qualified names."""
    scripted = ts.jit.script(Layers())
    with pytest.raises(RuntimeError, match="Method 'forward' is not defined"):
        _ = scripted.layers.graph
    with pytest.raises(AttributeError):
        _ = scripted.layers.code
    assert "container.ParameterList = prim::GetAttr" in str(scripted.graph)


def test_containers_cannot_be_unpacked():
    """Assignments do not unpack modules and their `items()`, only their values and keys."""

    class Modules(Layers):
        def forward(self, x):
            a, b = self.layers
            return a(b(x))

    class Pairs(Layers):
        def forward(self, x):
            a, b = self.heads.items()
            return a[1](b[1](x))

    class Values(Layers):
        def forward(self, x):
            a, b = self.heads.values()
            return a(b(x))

    with pytest.raises(RuntimeError, match="module cannot be used as a tuple"):
        ts.jit.script(Modules())
    with pytest.raises(RuntimeError, match="iterabletree cannot be used as a tuple"):
        ts.jit.script(Pairs())
    assert ts.jit.script(Values())(ts.zeros(1)).item() == 0


def test_class_method_of_a_module():
    """A class method is compiled as a method; `cls` stands for the module."""

    class Scaled(nn.Module):
        @classmethod
        def double(cls, x: ts.Tensor) -> ts.Tensor:
            return x * 2

        def forward(self, x):
            return self.double(x)

    assert ts.jit.script(Scaled())(ts.ones(1)).item() == 2


def test_unresolvable_annotations_of_ignored_methods():
    """The error for an ignored method with an invalid annotation shows it, and underlines the method."""

    class Named(nn.Module):
        @ts.jit.ignore
        def helper(self, x: "Undefined") -> ts.Tensor:
            return x

        def forward(self, x):
            return self.helper(x)

    class Optionals(nn.Module):
        @ts.jit.ignore
        def helper(self, x: Optional[Set[int]]) -> ts.Tensor:
            return x

        def forward(self, x):
            return self.helper(x)

    with pytest.raises(ValueError, match="Unknown type annotation: 'Undefined' at") as failure:
        ts.jit.script(Named())
    assert "self.helper(x)\n                   ~~~~~~~~~~~ <--- HERE" in str(failure.value)
    with pytest.raises(AssertionError, match=r"could not be resolved because typing\.Set\[int\] could not be resolved"):
        ts.jit.script(Optionals())


def test_mismatched_state_methods():
    """`__getstate__` must return the type that `__setstate__` accepts; saving a module checks it."""

    class Net(nn.Module):
        def forward(self, x):
            return x

        @ts.jit.export
        def __getstate__(self):
            return (1, self.training)

        @ts.jit.export
        def __setstate__(self, state: Tuple[str, bool]):
            self.training = state[1]

    with pytest.raises(RuntimeError, match=r"return type \(Tuple\[int, bool\]\) does not match '__setstate__'s argument"):
        ts.jit.script(Net()).save_to_buffer()


@pytest.mark.parametrize("name", [None, 3, b"x", []])
def test_invalid_module_names(name):
    """The attribute `__module__` of a module class can be any object."""

    class Twice(nn.Module):
        def forward(self, x):
            return 2 * x

    Twice.__module__ = name
    assert ts.jit.script(Twice())(ts.ones(1)).tolist() == [2]
