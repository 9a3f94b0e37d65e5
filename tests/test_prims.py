"""Scalar, list, dict and string operators equal Python, except for listed differences."""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ts
from tests.test_container import BOOL, COMPLEX, FLOAT, INT, STR, dict_of, list_of, tuple_of
from ts._core.value.ivalue import from_core, to_core
from ts._core.builtin_ops.registry import operators
from ts._core.value.spec import SPECS

OPERATORS = operators()
BY_KEY = {op.schema_text.partition("(")[0]: op for op in OPERATORS}

ints = st.integers(-(2**63), 2**63 - 1)
small = st.integers(-12, 12)
floats = st.floats()
texts = st.text(max_size=12)
int_lists = st.lists(st.integers(-5, 5), max_size=40)


def call(key: str, *arguments: Any) -> Any:
    """Return the operator's result converted to Python."""
    return from_core(BY_KEY[key](*arguments))


def core(values: Any, spec: Any = None) -> Any:
    return to_core(values, spec or list_of(INT))


def wrap_to_64_bits(x: int) -> int:
    return (x + 2**63) % 2**64 - 2**63


def are_bit_equal(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def test_schemas_are_unique() -> None:
    assert len({op.schema_text for op in OPERATORS}) == len(OPERATORS)


def test_arity_is_read_from_the_schema() -> None:
    assert (BY_KEY["aten::divmod.int"].nargs, BY_KEY["aten::divmod.int"].nrets) == (2, 2)
    assert (BY_KEY["aten::items.str"].nargs, BY_KEY["aten::items.str"].nrets) == (1, 1)
    assert (BY_KEY["aten::clear.t"].nargs, BY_KEY["aten::clear.t"].nrets) == (1, 0)
    assert (BY_KEY["aten::popitem.int"].nargs, BY_KEY["aten::popitem.int"].nrets) == (1, 1)
    assert (BY_KEY["aten::is_scripting"].nargs, BY_KEY["aten::is_scripting"].nrets) == (0, 1)


def test_only_number_kernels_run_without_the_gil() -> None:
    assert BY_KEY["aten::add.int"].scalar
    assert BY_KEY["aten::sqrt.float"].scalar
    assert not any(
        op.scalar
        for op in OPERATORS
        if any(w in op.schema_text for w in ("Scalar", "complex", "[]", "Dict", "str"))
    )


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("add", operator.add),
        ("sub", operator.sub),
        ("mul", operator.mul),
        ("__and__", operator.and_),
        ("__or__", operator.or_),
        ("__xor__", operator.xor),
    ],
)
@given(ints, ints)
def test_int_arithmetic_wraps(name: str, function: Any, a: int, b: int) -> None:
    assert call(f"aten::{name}.int", a, b) == wrap_to_64_bits(function(a, b))


@given(ints, ints.filter(bool))
def test_int_division_rounds_down(a: int, b: int) -> None:
    assert call("aten::floordiv.int", a, b) == wrap_to_64_bits(a // b)
    assert call("aten::remainder.int", a, b) == a % b
    assert BY_KEY["aten::divmod.int"](a, b) == (wrap_to_64_bits(a // b), a % b)


@given(ints, st.integers(0, 63))
def test_shifts(a: int, n: int) -> None:
    assert call("aten::__lshift__.int", a, n) == wrap_to_64_bits(a << n)
    assert call("aten::__rshift__.int", a, n) == a >> n


@given(ints.filter(lambda a: a > -(2**63)), ints.filter(lambda a: a > -(2**63)))
def test_gcd(a: int, b: int) -> None:
    assert call("aten::gcd.int", a, b) == math.gcd(a, b)


@given(ints, st.integers(0, 100))
def test_int_power_wraps(a: int, n: int) -> None:
    assert call("aten::pow.int_to_int", a, n) == wrap_to_64_bits(a**n)


@given(floats, floats)
def test_float_arithmetic(a: float, b: float) -> None:
    assert are_bit_equal(call("aten::add.float", a, b), a + b)
    assert are_bit_equal(call("aten::mul.float", a, b), a * b)
    assert call("aten::lt.float", a, b) == (a < b)
    assert call("aten::eq.float_int", a, 1) == (a == 1)


@given(floats)
def test_round_is_to_even(a: float) -> None:
    expected = float(round(a)) if math.isfinite(a) else a
    assert are_bit_equal(call("aten::round.float", a), math.copysign(expected, a))


@given(small, small, small.filter(bool))
def test_range(lo: int, hi: int, step: int) -> None:
    assert call("aten::__range_length", lo, hi, step) == len(range(lo, hi, step))


def test_range_at_the_ends_of_int() -> None:
    assert call("aten::__range_length", -(2**63), 2**63 - 1, 2**62) == 4
    assert call("aten::__range_length", 2**63 - 1, -(2**63), -(2**62)) == 4


@pytest.mark.parametrize(
    ("key", "arguments", "message"),
    [
        ("aten::floordiv.int", (1, 0), "division by 0"),
        ("aten::remainder.int", (1, 0), "division by 0"),
        ("aten::divmod.int", (1, 0), "ZeroDivisionError: integer division or modulo by zero"),
        ("aten::divmod.float", (1.0, 0.0), "ZeroDivisionError: float divmod()"),
        ("aten::pow.float", (0.0, -1.0), "0.0 cannot be raised to a negative power"),
        ("aten::factorial.int", (-1,), "factorial() not defined for negative values"),
        ("aten::floor.float", (math.nan,), "Cannot convert float nan to integer"),
        ("aten::ceil.float", (1e20,), "Cannot convert float 100000000000000000000.000000 to integer"),
        ("aten::__range_length", (1, 2, 0), "range() arg 3 must not be zero"),
        ("aten::Int.str", ("12a",), "invalid literal for int() with base 10: '12a'"),
        ("aten::Float.str", ("1_0",), "could not convert string to float: '1_0'"),
        ("aten::ord", ("ab",), "String for ord() must be 1 character, found 2"),
        ("aten::chr", (-5,), "chr() arg not in range(0x110000), found -5"),
        ("aten::index.str", ("ab", "c", 0, -1), "ValueError: substring not found"),
        ("aten::split.str", ("ab", "", -1), "ValueError: empty separator"),
    ],
)
def test_errors_equal_pytorch(key: str, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(RuntimeError) as error:
        BY_KEY[key](*arguments)
    assert str(error.value) == message


def test_float_division_by_zero_returns_infinity_or_nan() -> None:
    assert call("aten::div.int", 1, 0) == math.inf
    assert call("aten::floordiv.float", -1.0, 0.0) == -math.inf
    assert math.isnan(call("aten::remainder.float", 1.0, 0.0))


def test_scalars_keep_their_kind() -> None:
    assert call("aten::add", 1, 2) == 3
    assert call("aten::add", 1, 2.5) == 3.5
    assert call("aten::mul", 1j, 2) == 2j
    assert type(call("prim::max", 1, 2.5)) is float
    assert call("aten::sqrt.Scalar", -1 + 0j) == 1j


@given(int_lists, st.integers(-45, 45), st.none() | st.integers(-45, 45), small.filter(bool))
def test_list_slices(values: list[int], start: int, end: int | None, step: int) -> None:
    assert call("aten::slice.t", core(values), start, end, step) == values[start:end:step]
    text = "".join(chr(200 + v) for v in values)
    assert call("aten::slice.str", text, start, end, step) == text[start:end:step]


def test_a_step_without_a_negative() -> None:
    for key, values in (("aten::slice.t", core([1, 2])), ("aten::slice.str", "ab")):
        with pytest.raises(RuntimeError, match="List slice step is out of bounds"):
            call(key, values, None, None, -(2**63))


@given(int_lists, st.lists(st.tuples(st.integers(0, 8), st.integers(-6, 6)), max_size=30))
def test_list_methods(values: list[int], steps: list[tuple[int, int]]) -> None:
    """Random mutations of a List have the results of a Python list."""
    values, mirror = list(values), core(values)
    for choice, x in steps:
        if choice == 0:
            values.append(x)
            BY_KEY["aten::append.t"](mirror, x)
        elif choice == 1:
            values.insert(x, x)
            BY_KEY["aten::insert.t"](mirror, x, x)
        elif choice == 2 and -len(values) <= x < len(values):
            assert BY_KEY["aten::pop.t"](mirror, x) == values.pop(x)
        elif choice == 3 and x in values:
            values.remove(x)
            BY_KEY["aten::remove.int"](mirror, x)
        elif choice == 4:
            values.reverse()
            BY_KEY["aten::reverse.t"](mirror)
        elif choice == 5:
            values.sort(reverse=x > 0)
            BY_KEY["aten::sort.int"](mirror, x > 0)
        elif choice == 6:
            values.extend(values)
            BY_KEY["aten::extend.t"](mirror, mirror)
            if len(values) > 400:
                values.clear()
                BY_KEY["aten::clear.t"](mirror)
        elif choice == 7 and -len(values) <= x < len(values):
            values[x] = 9
            BY_KEY["aten::_set_item.t"](mirror, x, 9)
        elif choice == 8:
            assert BY_KEY["aten::count.int"](mirror, x) == values.count(x)
        assert from_core(mirror) == values


@given(st.lists(texts, max_size=40))
def test_sorting_strings(values: list[str]) -> None:
    assert call("aten::sorted.str", core(values, list_of(STR))) == sorted(values)


@given(st.lists(st.tuples(st.integers(0, 3), texts), max_size=60))
def test_sorting_tuples(values: list[tuple[int, str]]) -> None:
    assert call("aten::sorted.any", core(values, list_of(tuple_of(INT, STR)))) == sorted(values)


@given(st.lists(floats, max_size=40))
def test_sorting_floats_puts_nan_last(values: list[float]) -> None:
    result = call("aten::sorted.float", core(values, list_of(FLOAT)))
    numbers = sorted(v for v in values if not math.isnan(v))
    assert result[: len(numbers)] == numbers
    assert all(map(math.isnan, result[len(numbers) :]))


@pytest.mark.parametrize(("kind", "item"), [("int", INT), ("float", FLOAT), ("bool", BOOL), ("str", STR)])
def test_lists_without_items(kind: str, item: Any) -> None:
    """List functions accept empty lists, which have no memory, without passing null pointers to C
    functions."""
    empty = core([], list_of(item))
    assert call(f"aten::sorted.{kind}", empty) == call("aten::slice.t", empty, 0, 3, 1) == call("aten::copy.t", empty) == []
    assert BY_KEY[f"aten::sort.{kind}"](empty) is None and from_core(empty) == []


def test_list_failures() -> None:
    for index in (2, -3):
        with pytest.raises(IndexError, match="list index out of range"):
            BY_KEY["aten::__getitem__.t"](core([1, 2]), index)
        for key in ("aten::pop.t", "aten::Delete.t"):
            with pytest.raises(RuntimeError, match="list index out of range"):
                BY_KEY[key](core([1, 2]), index)
    with pytest.raises(RuntimeError, match="pop from empty list"):
        BY_KEY["aten::pop.t"](core([]), -1)
    with pytest.raises(RuntimeError, match="'5' is not in list"):
        BY_KEY["aten::index.list_int"](core([1]), 5)
    with pytest.raises(RuntimeError, match=r"max\(\) arg is an empty sequence"):
        BY_KEY["prim::max.self_int"](core([]))


def test_operators_that_mutate_and_return() -> None:
    x = core([1])
    assert call("aten::append.t", x, 2) == [1, 2]
    assert call("aten::add_.t", x, core([3])) == [1, 2, 3]
    assert call("aten::mul_.t", x, 2) == [1, 2, 3, 1, 2, 3]
    assert from_core(x) == [1, 2, 3, 1, 2, 3]


def test_reductions() -> None:
    assert call("aten::sum.int", core([2**63 - 1, 1])) == -(2**63)
    assert call("aten::sum.bool", core([True, True], list_of(BOOL))) == 2
    assert call("aten::sum.complex", core([1j, 2.0], list_of(COMPLEX))) == 2 + 1j
    assert call("aten::any.str", core(["", "a"], list_of(STR)))
    assert call("aten::all.float", core([], list_of(FLOAT)))
    assert call("prim::max.self_float", core([1.0, math.nan, 3.0], list_of(FLOAT))) == 3.0


def test_dict_methods() -> None:
    spec = dict_of(STR, INT)
    d = core({"a": 1, "b": 2}, spec)
    assert call("aten::keys.str", d) == ["a", "b"]
    assert call("aten::values.str", d) == [1, 2]
    assert call("aten::items.str", d) == [("a", 1), ("b", 2)]
    assert call("aten::setdefault.str", d, "c", 7) == 7
    assert call("aten::get.default_str", d, "z", 9) == 9
    assert call("aten::popitem.str", d) == ("a", 1)  # the first item, as in PyTorch
    BY_KEY["aten::update.str"](d, core({"b": 5}, spec))
    assert call("aten::copy.Dict_str", d) == {"b": 5, "c": 7}
    assert call("aten::dict.str", core([("x", 1), ("x", 2)], list_of(tuple_of(STR, INT)))) == {"x": 2}
    with pytest.raises(RuntimeError, match="KeyError: z"):
        BY_KEY["aten::__getitem__.Dict_str"](d, "z")


@pytest.mark.parametrize(
    "method", ["upper", "lower", "title", "capitalize", "swapcase", "isalnum", "isidentifier", "isspace"]
)
@given(texts)
def test_string_methods(method: str, text: str) -> None:
    assert call(f"aten::{method}", text) == getattr(text, method)()


@given(texts, texts, small)
def test_string_search(text: str, part: str, start: int) -> None:
    for name in ("find", "rfind", "count", "startswith", "endswith"):
        assert call(f"aten::{name}", text, part, start, -1) == getattr(text, name)(part, start)
    assert call("aten::replace", text, part, "<>", -1) == text.replace(part, "<>")
    assert call("aten::split.str", text, None, -1) == text.split()
    assert call("aten::splitlines", text, True) == text.splitlines(True)
    assert call("aten::list", text) == list(text)


@given(
    st.text(alphabet="ab ,\n\r\t\u2028é\u3000", max_size=30),
    st.text(alphabet="ab,é", min_size=1, max_size=3),
    st.integers(-2, 4),
    st.one_of(st.none(), st.integers(-40, 40)),
    st.one_of(st.none(), st.integers(-40, 40)),
    st.integers(-7, 7).filter(bool),
)
def test_string_splits_equal_python(
    text: str, part: str, most: int, start: int | None, end: int | None, step: int
) -> None:
    assert call("aten::split.str", text, part, most) == text.split(part, most)
    assert call("aten::split.str", text, None, most) == text.split(None, most)
    assert call("aten::rsplit", text, part, most) == text.rsplit(part, most)
    assert call("aten::splitlines", text, False) == text.splitlines()
    for name in ("strip", "lstrip", "rstrip"):
        assert call(f"aten::{name}", text, part) == getattr(text, name)(part)
    assert call("aten::slice.str", text, start, end, step) == text[start:end:step]
    assert call("aten::slice.str", text, start, end, 2**63 - 1) == text[start : end : 2**63 - 1]


def test_characters_are_unicodes() -> None:
    assert call("aten::len.str", "é€") == 2
    assert call("aten::__getitem__.str", "é€", -1) == "€"
    assert call("aten::ord", "é") == 233
    assert call("aten::list", "é€") == ["é", "€"]


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("{} and {}", (1, "a"), "1 and a"),
        ("{{}}", (1,), "{}"),
        ("{a} {", (1,), "{a} {"),
        ("{:3d} {0}", (5, 6), "  5 5"),
        ("{}", (0.1,), "0.10000000000000001"),
    ],
)
def test_format(text: str, arguments: tuple[Any, ...], expected: str) -> None:
    assert call("aten::format", text, *arguments) == expected


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("%d of %s%%", (1.9, "a"), "1 of a%"),
        ("%c%i", (97, 3), "a3"),
        ("%f %e %E", (3, 1.5, 12345.678), "3.000000 1.500000e+00 1.234568E+04"),
        ("%s", (2.0,), "2."),
    ],
)
def test_percent(text: str, arguments: tuple[Any, ...], expected: str) -> None:
    packed = to_core(arguments, tuple_of(*[SPECS[type(x).__name__] for x in arguments]))
    assert call("aten::percentFormat", text, packed) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%5d", "The specifier %5 is not supported in TorchScript format strings"),
        ("%d %d", "Too few arguments for format string"),
        ("x", "Too many arguments for format string"),
        ("%", "Incomplete format specifier"),
    ],
)
def test_percent_failures(text: str, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        BY_KEY["aten::percentFormat"](text, to_core((1,), tuple_of(INT)))


def test_hash() -> None:
    assert call("aten::hash.generic", 7) == 7
    assert call("aten::hash.generic", "a") == hash("a")
    with pytest.raises(RuntimeError, match=r"unhashable type: 'List\[int\]'"):
        BY_KEY["aten::hash.generic"](core([1]))


def test_sorting_unordered_values():
    """Sorting a list with None raises an error; ints and floats are compared by value."""
    unit = ts.jit.CompilationUnit(
        "def optional(xs: List[Optional[int]]) -> List[Optional[int]]:\n  xs.sort()\n  return xs\n"
        "def union(xs: List[Union[int, float]]) -> List[Union[int, float]]:\n  xs.sort()\n  return xs\n"
    )
    assert unit.optional([3, 1, 2]) == [1, 2, 3]
    assert unit.union([3, 1.5, -2]) == [-2, 1.5, 3]
    with pytest.raises(RuntimeError, match=r"can be sorted, got list of NoneType"):
        unit.optional([None, 1])
    with pytest.raises((RuntimeError, TypeError), match=r"Found int and NoneType|Found NoneType and int"):
        unit.optional([1, None])


def test_lists_of_sizes_release_nothing() -> None:
    """`size` and `stride` initialize the memory of their lists without releasing previous contents."""
    tensor = ts.ones(2)
    before = sys.getrefcount(tensor)
    for key, x in (("aten::stride", ts.ones(2, 3, 4)), ("aten::size", ts.empty(2, 3, 4, device="meta"))):
        for _ in range(20):
            tensors = to_core([tensor, tensor, tensor], list_of(SPECS["Tensor"]))
            del tensors
            assert len(call(key, x)) == 3
    assert sys.getrefcount(tensor) == before


def test_statements_called_by_name(capsys) -> None:
    """Statements registered as operators, such as `raise` and tuple unpacking, can be called."""
    with pytest.raises(ValueError, match=r"^odd$"):
        ts.ops.prim.RaiseException("odd", "builtins.ValueError")
    with pytest.raises(RuntimeError, match=r"^odd$"):
        ts.ops.prim.RaiseException("odd")
    assert ts.ops.prim.TupleUnpack((1, "b")) == (1, "b")
    call("prim::Print", 1, "b", True)
    assert capsys.readouterr().out == "1 b True\n"
