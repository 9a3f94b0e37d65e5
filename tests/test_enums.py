"""Enums as types: valid classes, graph text, and conversion from and to Python."""

from enum import Enum, IntEnum
from typing import Any, Dict, List

import pytest

import ts


class Color(Enum):
    RED = 1
    GREEN = 2


class Level(IntEnum):
    LOW = 1


class Mixed(Enum):
    RED = 1
    GREEN = "green"


class Tensors(Enum):
    ZERO = ts.tensor(0)


class Empty(Enum):
    pass


def test_members_are_constants_of_the_graph():
    """A member is a constant with its qualified name; `name` and `value` are separate nodes."""

    @ts.jit.script
    def f(c: Color, level: Level):
        return c == Color.RED, c.name, level.value

    text = str(f.graph)
    assert (
        "Enum<__torch__.tests.test_enums.Color> = prim::Constant[value=__torch__.tests.test_enums.Color.RED]()"
        in text
    )
    assert "str = prim::EnumName(%c.1)" in text and "int = prim::EnumValue(%level.1)" in text
    assert f(Color.RED, Level.LOW) == (True, "RED", 1)
    assert f(Color.GREEN, Level.LOW) == (False, "GREEN", 1)


def test_returned_members_are_identical():
    """A returned enum member is the original object, also inside containers."""

    @ts.jit.script
    def f(c: Color, several: List[Color], level: Level):
        return {"one": c}, several, [Color.RED], level

    one, several, new, level = f(Color.GREEN, [Color.RED, Color.GREEN], Level.LOW)
    assert one["one"] is Color.GREEN and several[0] is Color.RED and new == [Color.RED] and level is Level.LOW


def test_isinstance_of_any_recognizes_enums():
    """`isinstance` distinguishes enum members from other values, also in lists."""

    @ts.jit.script
    def f(x: Any):
        return isinstance(x, Color), isinstance(x, List[Color]), isinstance(x, int)

    assert f(Color.RED) == (True, False, False)
    assert f([Color.RED]) == (False, True, False)
    assert f(1) == (False, False, True)
    assert f(Level.LOW) == (False, False, False)


def test_an_argument_of_another_class():
    @ts.jit.script
    def f(c: Color):
        return c.value

    message = "Expected a value of type 'Enum<__torch__.tests.test_enums.Color>' for argument 'c' but instead found type 'int'"
    with pytest.raises(RuntimeError, match=message):
        f(1)


def test_a_class_may_be_scripted():
    """`script` of an enum class validates and returns the class."""
    assert ts.jit.script(Color) is Color
    with pytest.raises(RuntimeError, match="Cannot create Enum with value type 'Tensor'"):
        ts.jit.script(Tensors)


@pytest.mark.parametrize(
    "cls, error, message",
    [
        (Mixed, RuntimeError, "Could not unify type list"),
        (Tensors, RuntimeError, "Cannot create Enum with value type 'Tensor', only int, float and string are supported"),
        (Empty, ValueError, "No enum values defined for"),
    ],
)
def test_classes_that_are_rejected(cls, error, message):
    def f(x: cls):
        return x

    with pytest.raises(error, match=message):
        ts.jit.script(f)


def test_uses_that_are_rejected():
    def unknown():
        return Color.PURPLE

    def key(x: Dict[Color, int]):
        return x

    def literal_key():
        return {Color.RED: 1}

    def itself():
        return Color

    def truth(c: Color):
        return 1 if c else 2

    cases = [
        (unknown, "has no attribute 'PURPLE'"),
        (key, "Cannot create dict for key type 'Enum<"),
        (literal_key, "Cannot create dict for key type 'Enum<"),
        (itself, "EnumClass cannot be used as a value"),
        (truth, "Could not cast value of type Enum<__torch__.tests.test_enums.Color> to bool"),
    ]
    for function, message in cases:
        with pytest.raises(RuntimeError, match=message):
            ts.jit.script(function)


def test_two_classes_of_one_name():
    """Two live classes with equal qualified names are two types."""

    def make():
        class Local(Enum):
            A = 1

        def f(x: Local):
            return x.value

        return Local, f

    (first, f), (second, g) = make(), make()
    assert str(ts.jit.script(f).schema) != str(ts.jit.script(g).schema)
    assert ts.jit.script(f)(first.A) == 1
    with pytest.raises(RuntimeError, match="Expected a value of type"):
        ts.jit.script(f)(second.A)
