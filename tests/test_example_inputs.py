"""Types inferred from example calls: containers, nested calls, several types, classes."""

from typing import Any, Dict

import pytest

import ts
from ts.frontend.example_types import annotation_of_value


def test_annotations_of_values():
    """`annotation_of_value` returns the annotation of a value's type."""
    assert annotation_of_value([1, 2]) == list[int] and annotation_of_value((1, "a")) == tuple[int, str]
    assert annotation_of_value({"a": [True]}) == dict[str, list[bool]]
    assert annotation_of_value([1, "a"]) == list[Any] and annotation_of_value(()) == tuple[()]
    assert annotation_of_value(ts.ones(1)) is ts.Tensor


def test_parameters_get_the_types_of_the_examples():
    def scale(x, by):
        return x * by

    f = ts.jit.script(scale, example_inputs=[(3, 4), (5, 6)])
    assert str(f.schema) == "scale(int x, int by) -> int" and f(2, 5) == 10
    g = ts.jit.script(scale, example_inputs=[(0.5, 4.0)])
    assert str(g.schema) == "scale(float x, float by) -> float"


def inner(xs):
    return xs[0]


def test_callees_get_types_from_examples():
    """Functions that the examples call get inferred types, too; annotations take precedence."""

    def outer(table, key: str):
        return inner(table[key])

    f = ts.jit.script(outer, example_inputs=[({"a": [1.5]}, "a")])
    assert str(f.schema) == "outer(Dict(str, float[]) table, str key) -> float"
    assert f({"b": [2.5, 1.0]}, "b") == 2.5


def test_several_types_are_any():
    def kind(x):
        if isinstance(x, int):
            return 1 + x
        return 0

    f = ts.jit.script(kind, example_inputs=[(1,), ("a",), ([1],)])
    assert str(f.schema) == "kind(Any x) -> int"
    assert f(4) == 5 and f("b") == 0 and f([1, 2]) == 0


class Counter:
    def most(self, xs):
        best: Dict[str, int] = {}
        for x in xs:
            best[x] = 1
        return len(best)


def test_methods_of_a_class():
    """Example inputs of a class can be specified per method."""
    cls = ts.jit.script(Counter, example_inputs={Counter().most: [(["a", "b"],)]})
    assert cls().most(["a", "a", "c"]) == 2


def test_failing_examples_raise():
    def broken(x):
        return x.nothing

    with pytest.raises(AttributeError, match="nothing"):
        ts.jit.script(broken, example_inputs=[(1,)])
    with pytest.raises(ValueError, match="Unable to infer types"):
        ts.jit.script(broken, example_inputs=3)
