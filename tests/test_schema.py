"""Schemas: parsing, printing, alias annotations, defaults."""

import copy
import pickle

import pytest

from ts.errors import ParseError
from ts.ir.schema import parse_schema


@pytest.mark.parametrize(
    "text",
    [
        "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
        "aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)",
        "aten::items.str(Dict(str, t) self) -> ((str, t)[])",
        "aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, bool copy=False) -> Tensor(b|a)",
        "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0) -> Tensor",
        "aten::conv(Tensor x, SymInt[2] stride=[1, 1]) -> (Tensor, Tensor out)",
        "prim::PythonOp(...) -> ...",
        "aten::format(str self, ...) -> str",
        'aten::center(str self, int width, str fillchar=" ") -> str',
        "aten::f(float eps=1.0000000000000001e-05, float p=2., int? n=None) -> ()",
        "aten::wait(Future(t) self) -> t",
        "f(int x, int[] y) -> int",
    ],
)
def test_text_is_preserved(text):
    """A parsed schema is printed without changes."""
    assert str(parse_schema(text)) == text


def test_parts():
    """A parsed schema has names, alias sets, defaults and types."""
    schema = parse_schema(
        "aten::f.out(Tensor(a!) x, ScalarType? d=None, int[2] k=1, *, Tensor(b!)[] o) -> Tensor(a!)"
    )
    x, d, k, o = schema.arguments
    assert (schema.key, schema.name, schema.overload_name) == ("aten::f.out", "aten::f", "out")
    assert schema.is_mutable and x.is_write and x.alias.before == {"a"}
    assert (d.type.str(), d.real_type.str(), d.has_default, d.default) == ("int?", "ScalarType?", True, None)
    assert (k.default, k.size) == ([1, 1], 2)
    assert o.kwarg_only and o.is_write and not o.alias.before
    assert schema.argument_index("k") == 2


def test_errors_show_the_place():
    """The error for an invalid schema marks the location with a caret."""
    with pytest.raises(ParseError, match="HERE"):
        parse_schema("aten::f(Tensor 1x) -> Tensor")
    with pytest.raises(ParseError, match="a list cannot be a key of a dict"):
        parse_schema("aten::f(Dict(int, int) x={[1]: 2}) -> Tensor")
    with pytest.raises(ParseError, match="expected a number but found '999"):
        parse_schema(f"aten::f(float x={'9' * 400}) -> Tensor")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies(copied):
    """Copies and pickles of schemas and arguments are equal to the originals."""
    schema = parse_schema("aten::add_.Tensor(Tensor(a!) self, int[2] other=1, *, Scalar alpha=1) -> Tensor(a!)")
    assert copied(schema) == schema and str(copied(schema)) == str(schema) and copied(schema).is_mutable
    argument = schema.arguments[1]
    assert copied(argument) == argument and copied(argument).size == 2 and copied(argument).default_value == argument.default_value
