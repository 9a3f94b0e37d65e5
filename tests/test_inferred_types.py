"""Inferred types of module attributes, also for subclasses of builtin classes."""

import io
from collections import namedtuple
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import pytest

import ts
from ts import nn


class Text(str):
    pass


class Number(int):
    pass


class Pair(tuple):
    pass


class NoLength(tuple):
    def __len__(self):
        raise NotImplementedError


class NoIteration(tuple):
    def __iter__(self):
        raise NotImplementedError


class Named(NamedTuple):
    count: int
    weight: ts.Tensor


class Level(IntEnum):
    LOW = 1


Untyped = namedtuple("Untyped", "first second")


class Holder(nn.Module):
    def __init__(self, held):
        super().__init__()
        self.held = held

    def forward(self, x):
        return self.held


class Constant(Holder):
    __constants__ = ("held",)


VALUES = {
    "float64": (np.float64(2.5), "float", 2.5), "str": (Text("a"), "str", "a"), "int": (Number(3), "int", 3),
    "pair": (Pair((1, 2)), "(int, int)", (1, 2)), "size": (ts.Size((1, 2)), "(int, int)", (1, 2)),
    "no_length": (NoLength((1, 2.0)), "(int, float)", (1, 2.0)), "no_iteration": (NoIteration((1,)), "(int)", (1,)),
    "empty": (NoLength(()), "()", ()), "nested": ((NoLength((1,)), Text("b")), "((int), str)", ((1,), "b")),
    "list": ([np.float64(1.5), 2.0], "float[]", [1.5, 2.0]), "untyped": (Untyped(1, "c"), "(int, str)", (1, "c")),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_attributes(name):
    value, type_text, expected = VALUES[name]
    scripted = ts.jit.script(Holder(value))
    assert f'%held : {type_text} = prim::GetAttr[name="held"](%self)' in str(scripted.graph)
    buffer = io.BytesIO()
    ts.jit.save(scripted, buffer)
    buffer.seek(0)
    for module in (scripted, ts.jit.load(buffer)):
        result = module(ts.ones(1))
        assert result == expected and type(result) is type(expected)


@pytest.mark.parametrize("name", [name for name in VALUES if name != "list"])
def test_constants(name):
    value, _, expected = VALUES[name]
    assert ts.jit.script(Constant(value))(ts.ones(1)) == expected


def test_named_tuples_keep_their_name_if_the_values_fit():
    scripted = ts.jit.script(Holder(Named(1, ts.ones(1))))
    assert "NamedTuple(count : int, weight : Tensor)" in str(scripted.graph)


def test_enumerations_of_integers_are_enumerations():
    assert "Enum<" in str(ts.jit.script(Holder(Level.LOW)).graph)


@pytest.mark.parametrize("value", [np.float64(2.0), Text("a"), Number(1)], ids=lambda value: type(value).__name__)
def test_global_values_are_rejected_by_class(value):
    def function(x):
        return value

    with pytest.raises(RuntimeError, match=f"python value of type '{type(value).__name__}' cannot be used as a value"):
        ts.jit.script(function)


def test_other_numpy_scalars_have_no_type():
    with pytest.raises(RuntimeError, match=r"failed to convert Python type: 'numpy\.float32'"):
        ts.jit.script(Holder(np.float32(1.0)))
