"""Programs can replace and add attributes of the class `Tensor`, although it is an extension type."""

import operator
from unittest import mock

import pytest

import ts


def test_methods_are_replaced_and_restored():
    matmul, calls = ts.Tensor.matmul, []

    def counted_matmul(self, other):
        calls.append(tuple(self.shape))
        return matmul(self, other)

    x = ts.eye(2)
    with mock.patch.object(ts.Tensor, "matmul", counted_matmul):
        assert ts.equal(x.matmul(x), x) and ts.nn.Parameter(x).matmul(x).shape == (2, 2)
    assert calls == [(2, 2), (2, 2)]
    assert ts.Tensor.matmul is matmul and ts.equal(x.matmul(x), x) and len(calls) == 2


def test_operators_are_replaced_and_restored():
    add, text = ts.Tensor.__add__, ts.Tensor.__repr__
    x = ts.ones(1)
    with mock.patch.object(ts.Tensor, "__add__", lambda self, other: add(self, other) * 10):
        assert (x + 1).item() == 20
        assert (ts.nn.Parameter(x) + 1).item() == 20
        assert (1 + x).item() == 2
    assert (x + 1).item() == 2 and ts.Tensor.__add__ is add
    with mock.patch.object(ts.Tensor, "__repr__", lambda self: "a tensor"):
        assert repr(x) == "a tensor"
    assert repr(x) == "tensor([1.])" and ts.Tensor.__repr__ is text


def test_attributes_are_added_and_deleted():
    x = ts.ones(3)
    ts.Tensor.doubled = lambda self: self * 2
    ts.Tensor.total = property(lambda self: self.sum())
    try:
        assert x.doubled().tolist() == [2, 2, 2] and ts.nn.Parameter(x).total.item() == 3
    finally:
        del ts.Tensor.doubled, ts.Tensor.total
    assert not hasattr(x, "doubled") and not hasattr(ts.nn.Parameter(x), "total")
    with pytest.raises(AttributeError):
        del ts.Tensor.doubled


def test_attributes_of_the_type_structure_are_read_only():
    for name in (
        "__name__",
        "__qualname__",
        "__bases__",
        "__dict__",
        "__flags__",
        "__basicsize__",
        "__mro__",
    ):
        with pytest.raises((TypeError, AttributeError)):
            setattr(ts.Tensor, name, getattr(ts.Tensor, name))
    with pytest.raises(TypeError, match=r"can't delete|cannot"):
        del ts.Tensor.__name__
    with pytest.raises(TypeError):
        setattr(ts.Tensor, 1, 2)
    assert (
        ts.Tensor.__name__ == "Tensor"
        and ts.Tensor.__module__ == ts.nn.Parameter.__mro__[1].__module__ == "ts"
    )


def test_the_metaclass_is_that_of_subclasses():
    meta = ts._C._TensorMeta
    assert type(ts.Tensor) is meta and issubclass(type(ts.nn.Parameter), meta) and issubclass(meta, type)

    class Labelled(ts.Tensor):
        label = "x"

    Labelled.label = "y"
    Labelled.__name__ = "Renamed"
    assert type(Labelled) is meta and Labelled.label == "y" and Labelled.__name__ == "Renamed"
    assert operator.attrgetter("label")(ts.ones(1).as_subclass(Labelled)) == "y"


def test_a_destructor_of_a_replaced_attribute_cannot_rename_the_class():
    outcomes = []

    class Renames:
        def __del__(self):
            try:
                ts.Tensor.__name__ = "Renamed"
            except TypeError as error:
                outcomes.append(str(error))

    ts.Tensor.temporary = Renames()
    ts.Tensor.temporary = Renames()
    del ts.Tensor.temporary
    assert len(outcomes) == 2 and ts.Tensor.__name__ == "Tensor"
