"""Type refinement of variables, and Python values accepted for unions and `Any`."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import pytest

import ts
from ts.frontend.ir_emitter.refinement import refine_by_both, refine_by_either, type_test, without_none
from ts.ir.types import ANY, FLOAT, INT, NONE, STR, AnyListType, ListType, OptionalType, UnionType


def test_isinstance_splits_a_union():
    """A type test splits a union into matching and other members, refined to the narrower type."""
    test = type_test(UnionType((INT, STR, ListType(INT))), [AnyListType.get(), STR])
    assert test.if_true.str() == "Union(int[], str)" and test.if_false == INT and test.static is None
    assert type_test(OptionalType(INT), [INT]).if_false == NONE


def test_isinstance_is_known_where_the_types_decide():
    """A type test that always or never matches is decided at compile time."""
    assert type_test(INT, [INT, STR]).static is True
    assert type_test(INT, [STR]).static is False
    assert type_test(ANY, [INT]).static is None and type_test(ANY, [ANY]).static is True
    assert type_test(ANY, [FLOAT, INT]).if_false is ANY
    assert type_test(OptionalType(INT), [INT]).static is None


def test_refinements_of_combined_conditions():
    a, b = [("x", INT)], [("x", INT), ("y", STR)]
    assert refine_by_both(a, b) == b and refine_by_either(a, b) == a
    assert refine_by_both([("x", INT)], [("x", STR)]) == [] and refine_by_either([("x", INT)], [("x", STR)]) == []


def test_without_none():
    assert without_none(OptionalType(INT)) == INT
    assert without_none(UnionType((INT, STR, NONE))).str() == "Union(int, str)"
    assert without_none(UnionType((INT, STR))) is None and without_none(INT) is None


def test_a_union_takes_its_members_only():
    """A union accepts values of its member types only, without conversion: a bool is not an int."""

    @ts.jit.script
    def f(x: Union[int, List[str], Tuple[int, int]]):
        return x

    assert f(1) == 1 and f(["a"]) == ["a"] and f((1, 2)) == (1, 2)
    for wrong, type_name in [(True, "bool"), (1.5, "float"), ("a", "str"), ([1], r"List\[int\]")]:
        message = rf"Expected a member of Union\[Tuple\[int, int\], List\[str\], int\] but instead found type {type_name}"
        with pytest.raises(RuntimeError, match=message):
            f(wrong)


class Point(NamedTuple):
    x: int
    y: int


def test_isinstance_of_any_at_run_time():
    """`isinstance` of Any uses the element types of containers; a NamedTuple is a tuple."""

    @ts.jit.script
    def f(x: Any):
        return (
            isinstance(x, int), isinstance(x, list), isinstance(x, List[int]), isinstance(x, tuple),
            isinstance(x, Tuple[int, int]), isinstance(x, Dict[str, int]), isinstance(x, Optional[str]),
        )  # fmt: skip

    def answers(x):
        return [i for i, yes in enumerate(f(x)) if yes]

    assert answers(1) == [0] and answers(True) == [] and answers(1.0) == []
    assert answers([1]) == [1, 2] and answers(["a"]) == [1]
    assert answers((1, 2)) == [3, 4] and answers((1, "a")) == [3]
    assert answers({"a": 1}) == [5] and answers({"a": "b"}) == []
    assert answers(None) == [6] and answers("a") == [6]
    assert answers(Point(1, 2)) == [3, 4]


def test_the_graph_of_a_refinement():
    """Each branch of a refinement begins with a cast to the refined type."""

    @ts.jit.script
    def f(x: Union[int, str, None]):
        if isinstance(x, int):
            return x
        return 0 if x is None else len(x)

    text = str(f.graph)
    assert "prim::isinstance[types=[int]](%x.1)" in text
    assert "int = prim::unchecked_cast(%x.1)" in text and "str? = prim::unchecked_cast(%x.1)" in text
    assert f(3) == 3 and f("ab") == 2 and f(None) == 0
