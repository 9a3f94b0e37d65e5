"""Core containers: conversion from and to Python, dicts with many insertions and removals, cycles."""

from __future__ import annotations

import gc
import random

import numpy as np
import pytest

from ts._core.value.ivalue import from_core, to_core
from ts._core.value.type_of import infer_spec
from ts._core.dispatch.argument_errors import argument_error
from ts._core.builtin_ops.registry import operators
from ts._core.value.spec import KINDS, SPECS, TypeSpec

INT, FLOAT, BOOL, STR, COMPLEX, NONE, ANY = (
    SPECS[name] for name in ("int", "float", "bool", "str", "complex", "NoneType", "Any")
)
NUMBER = SPECS["number"]


def list_of(element: TypeSpec) -> TypeSpec:
    return TypeSpec(KINDS["ListType"], (element,), f"List[{element.annotation_str}]")


def dict_of(key: TypeSpec, value: TypeSpec) -> TypeSpec:
    return TypeSpec(KINDS["DictType"], (key, value), f"Dict[{key.annotation_str}, {value.annotation_str}]")


def tuple_of(*elements: TypeSpec, name: tuple[str, tuple[str, ...]] | None = None) -> TypeSpec:
    return TypeSpec(KINDS["TupleType"], elements, f"Tuple[{', '.join(e.annotation_str for e in elements)}]", name)


def optional(element: TypeSpec) -> TypeSpec:
    return TypeSpec(KINDS["OptionalType"], (element,), f"Optional[{element.annotation_str}]")


class HasIndex:
    def __index__(self) -> int:
        return 7


class Text(str):
    pass


ACCEPTED = [
    (INT, True, 1),
    (INT, 2**63 - 1, 2**63 - 1),
    (INT, -(2**63), -(2**63)),
    (INT, np.int32(3), 3),
    (INT, np.float32(1.5), 1),
    (INT, np.bool_(True), 1),
    (INT, np.array(3), 3),
    (INT, HasIndex(), 7),
    (FLOAT, 1, 1.0),
    (FLOAT, True, 1.0),
    (FLOAT, 2**63, 2.0**63),
    (FLOAT, np.float32(1.5), 1.5),
    (FLOAT, HasIndex(), 7.0),
    (BOOL, 1.5, True),
    (BOOL, None, False),
    (BOOL, np.bool_(True), True),
    (STR, Text("q"), "q"),
    (COMPLEX, 2, 2 + 0j),
    (COMPLEX, HasIndex(), 7 + 0j),
    (NUMBER, np.float64(2.5), 2.5),
    (NUMBER, True, True),
    (optional(INT), None, None),
    (optional(INT), 3, 3),
    (list_of(INT), (1, True), [1, 1]),
    (list_of(FLOAT), range(2), [0.0, 1.0]),
    (list_of(INT), [1, True, 2, np.int32(3)], [1, 1, 2, 3]),
    (list_of(FLOAT), [0.5, 1, 2.5, True, np.float64(3.5)], [0.5, 1.0, 2.5, 1.0, 3.5]),
    (list_of(INT), np.array([1, 2]), [1, 2]),
    (list_of(INT), {1}, [1]),
    (list_of(optional(INT)), [1, None], [1, None]),
    (list_of(list_of(INT)), [[1], []], [[1], []]),
    (dict_of(STR, INT), {"a": True}, {"a": 1}),
    (dict_of(STR, INT), [("a", 1)], {"a": 1}),
    (dict_of(FLOAT, STR), {1: "x"}, {1.0: "x"}),
    (dict_of(COMPLEX, INT), {1j: 2}, {1j: 2}),
    (tuple_of(INT, FLOAT), [1, 2], (1, 2.0)),
    (tuple_of(*[INT] * 6), [0, 1, 2, 3, 4, 5], (0, 1, 2, 3, 4, 5)),
    (ANY, [1, 2], [1, 2]),
    (ANY, {"a": (1, 2.5)}, {"a": (1, 2.5)}),
    (ANY, None, None),
]


@pytest.mark.parametrize(("spec", "given", "expected"), ACCEPTED, ids=lambda x: repr(x)[:30])
def test_accepted(spec: TypeSpec, given: object, expected: object) -> None:
    """Values that PyTorch converts at a call are converted to the declared type."""
    result = from_core(to_core(given, spec))
    assert result == expected
    assert type(result) is type(expected)


REJECTED = [
    (INT, 1.5, "<class 'float'> to int"),
    (INT, np.float64(2.5), "<class 'numpy.float64'> to int"),
    (INT, 2**63, "<class 'int'> to int: 9223372036854775808 does not fit"),
    (INT, "1", "<class 'str'> to int"),
    (INT, None, "<class 'NoneType'> to int"),
    (FLOAT, "1", "<class 'str'> to float"),
    (FLOAT, 1j, "<class 'complex'> to float"),
    (BOOL, "", "<class 'str'> to bool"),
    (BOOL, HasIndex(), "<class 'tests.test_container.HasIndex'> to bool"),
    (STR, 1, "<class 'int'> to str"),
    (optional(INT), 1.5, "<class 'float'> to Optional[int]"),
    (list_of(INT), [1, 2.0], "<class 'float'> to int"),
    (list_of(INT), [1, 2**63], "does not fit in 64 bits"),
    (list_of(INT), "ab", "<class 'str'> to List[int]"),
    (list_of(INT), {1: 2}, "<class 'dict'> to List[int]"),
    (list_of(INT), iter([1]), "<class 'list_iterator'> to List[int]"),
    (dict_of(STR, INT), {1: 1}, "<class 'int'> to str"),
    (tuple_of(INT, FLOAT), (1,), "different number of elements"),
    (ANY, [1, "a"], "consistent element type. Found int and str"),
    (ANY, [], "must have elements"),
]


@pytest.mark.parametrize(("spec", "given", "message"), REJECTED, ids=lambda x: repr(x).partition(" at 0x")[0][:30])
def test_rejected(spec: TypeSpec, given: object, message: str) -> None:
    """Values that PyTorch rejects are rejected with the expected and the actual type."""
    with pytest.raises(TypeError) as error:
        to_core(given, spec)
    assert message in str(error.value)


def test_argument_error_has_pytorchs_lines() -> None:
    error = argument_error("f", "x", INT, 0, 1.5, "f(int x) -> int")
    assert isinstance(error, RuntimeError)
    assert str(error).splitlines() == [
        "f() Expected a value of type 'int' for argument 'x' but instead found type 'float'.",
        "Position: 0",
        "Value: 1.5",
        "Declaration: f(int x) -> int",
    ]


def test_named_tuples_keep_their_fields() -> None:
    point = from_core(to_core((1, 2), tuple_of(INT, INT, name=("geometry.Point", ("x", "y")))))
    assert type(point).__name__ == "Point"
    assert (point.x, point.y) == (1, 2)


@pytest.mark.parametrize(
    ("spec", "value", "text"),
    [
        (
            list_of(FLOAT),
            [1.0, 0.1, -0.0, 1e16, 1e20, float("nan")],
            "[1., 0.10000000000000001, 0., 10000000000000000., 1e+20, nan]",
        ),
        (list_of(STR), ["a", "b'c"], "[a, b'c]"),
        (dict_of(STR, list_of(INT)), {"a": [1], "b": []}, "{a: [1], b: []}"),
        (tuple_of(INT), (1,), "(1,)"),
        (tuple_of(INT, STR, BOOL), (1, "a", True), "(1, a, True)"),
        (list_of(optional(INT)), [None, 1], "[None, 1]"),
        (list_of(COMPLEX), [1.5 - 2j], "[1.5-2.j]"),
    ],
)
def test_printed_values_equal_pytorch(spec: TypeSpec, value: object, text: str) -> None:
    """`print` in a script shows values as PyTorch does: 17 digits, no quotes around strings."""
    assert str(to_core(value, spec)) == text


def test_infer_spec() -> None:
    assert infer_spec({"a": [1, None]}).annotation_str == "Dict[str, List[Optional[int]]]"


def test_equality_is_deep_and_by_value() -> None:
    spec = dict_of(STR, list_of(FLOAT))
    assert to_core({"a": [1.0], "b": []}, spec) == to_core({"b": [], "a": [1.0]}, spec)
    assert to_core({"a": [1.0]}, spec) != to_core({"a": [2.0]}, spec)
    assert to_core([float("nan")], list_of(FLOAT)) != to_core([float("nan")], list_of(FLOAT))


@pytest.mark.parametrize("key", ["int", "float", "str", "bool", "complex"])
def test_dict_against_pythons(key: str) -> None:
    """Random insertions and deletions leave the entries and order of Python's dict."""
    ops = {f"{op.name}.{op.overload}": op for op in operators()}
    make = {
        "int": int,
        "float": float,
        "str": str,
        "bool": lambda i: i % 2 == 0,
        "complex": lambda i: complex(i, -i),
    }[key]
    rng = random.Random(key)
    expected: dict[object, int] = {}
    core = to_core({}, dict_of(SPECS[key], INT))
    for step in range(4000):
        k = make(rng.randrange(1 + step % 300))
        if rng.random() < 0.55:
            expected[k] = step
            ops[f"aten::_set_item.{key}"](core, k, step)
        elif k in expected:
            assert ops[f"aten::pop.Dict_{key}"](core, k) == expected.pop(k)
        else:
            assert ops[f"aten::get.{key}"](core, k) is None
        if step % 500 == 499:
            assert list(from_core(core).items()) == list(expected.items())
            assert [k in core for k in expected] == [True] * len(expected)


def test_zero_and_negative_zero_are_equal_keys() -> None:
    core = to_core({0.0: 1}, dict_of(FLOAT, INT))
    assert core[-0.0] == 1


def test_containers_of_numbers_and_strings_are_not_tracked() -> None:
    """Containers without references to containers are not tracked by the garbage collector."""
    assert not gc.is_tracked(to_core([1], list_of(INT)))
    assert not gc.is_tracked(to_core({"a": 1}, dict_of(STR, INT)))
    assert gc.is_tracked(to_core([[1]], list_of(list_of(INT))))


def test_collector_sees_items_and_frees_cycles() -> None:
    insert = next(op for op in operators() if op.schema_text.startswith("aten::insert"))

    class Probe:
        alive = 0

        def __init__(self) -> None:
            Probe.alive += 1

        def __del__(self) -> None:
            Probe.alive -= 1

    inner = to_core([Probe()], list_of(SPECS["Any"]))
    outer = to_core([inner], list_of(inner.spec))
    assert inner in gc.get_referents(outer)
    insert(inner, 0, outer)
    converted = from_core(inner)
    assert converted[0][0] is converted  # a self-reference is preserved
    with pytest.raises(RecursionError):
        str(inner)
    del inner, outer, converted
    gc.collect()
    assert Probe.alive == 0


def test_shared_containers_stay_shared() -> None:
    """Conversion takes time proportional to the number of containers, not of paths."""
    row = to_core([1, 2], list_of(INT))
    rows = to_core([row] * 3, list_of(list_of(INT)))
    converted = from_core(to_core({"a": rows, "b": rows}, dict_of(STR, list_of(list_of(INT)))))
    assert converted == {"a": [[1, 2]] * 3, "b": [[1, 2]] * 3}
    assert converted["a"] is converted["b"]
    assert converted["a"][0] is converted["b"][2]


def test_conversion_does_not_leak() -> None:
    """An error during the conversion of a container releases the elements converted before."""
    marker = "a string of its own " + str(random.random())
    import sys

    before = sys.getrefcount(marker)
    for _ in range(100):
        with pytest.raises(TypeError):
            to_core([marker, 1], list_of(STR))
        with pytest.raises(TypeError):
            to_core({marker: marker}, dict_of(STR, INT))
        with pytest.raises(TypeError):
            to_core((marker, marker), tuple_of(STR, INT))
    assert sys.getrefcount(marker) == before
