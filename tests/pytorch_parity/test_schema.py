"""Schemas and types equal PyTorch's: all schemas of its registry; subtyping and unification of many types."""

import itertools

import pytest

torch = pytest.importorskip("torch")

from ts.ir.schema import parse_schema  # noqa: E402
from ts.ir.type_parser import parse_type  # noqa: E402
from ts.ir.types import unify_list  # noqa: E402

TYPES = """Tensor;int;float;bool;complex;str;NoneType;Scalar;Any;Device;Generator;int?;float?;Tensor?;Scalar?;int[];
    float[];Tensor[];int?[];int[]?;Tensor?[];Scalar[];Any[];str?;bool?;(int, float);(int?, float);(int, NoneType);
    (int, Any);(int);(int)[];(int?)[];Dict(str, int);Dict(str, int?);Dict(str, Tensor);Future(int);
    Future(int?);RRef(int);RRef(int?);Await(int);Await(int?);Union(int, str);Union(int, str, NoneType);
    Union(int, str, float);Union(int, int[]);Union(Tensor, int);Union(int, float);Float(2, 3);Float(2, *);Float(*, *);
    Long(2, 3);Float(2, 3, requires_grad=0, device=cpu);Float(2, 3)[];(Tensor, int);(Float(2, 3), int);Any?;
    (int, float)?;Stream;SymBool;Storage;QScheme;AnyEnumType;AnyClassType;t;t[];Dict(int, t)"""
TYPES = [" ".join(text.split()) for text in TYPES.split(";")]


def pytorch_type(text):
    """Return PyTorch's object for a type, obtained from a parsed graph."""
    return next(torch._C.parse_ir(f"graph(%x : {text}):\n  return (%x)\n").inputs()).type()


PAIRS = [(pytorch_type(text), parse_type(text)) for text in TYPES]


def test_schemas_of_the_registry():
    """Every schema of the registry parses and prints unchanged, with the same types, defaults and alias sets."""
    for theirs in torch._C._jit_get_all_schemas():
        ours = parse_schema(str(theirs))
        assert str(ours) == str(theirs)
        assert (ours.name, ours.overload_name) == (theirs.name, theirs.overload_name)
        assert ours.is_mutable == theirs.is_mutable, str(ours)
        for a, b in zip([*ours.arguments, *ours.returns], [*theirs.arguments, *theirs.returns], strict=True):
            assert (a.name, a.type.str(), a.real_type.str()) == (b.name, b.type.str(), b.real_type.str())
            assert (a.kwarg_only, a.size, a.has_default) == (b.kwarg_only, b.N, b.has_default_value())
            assert a.type.annotation_str == b.type.annotation_str and a.type.kind() == b.type.kind()
            if b.alias_info is not None and a.alias is not None:
                strip = {name.rpartition("::")[2] for name in b.alias_info.before_set}
                assert a.alias.before == strip and a.alias.is_write == b.alias_info.is_write


def test_texts_of_types():
    """The graph text and annotation of each type equal PyTorch's."""
    for theirs, ours in PAIRS:
        assert (ours.str(), ours.annotation_str, ours.kind()) == (
            theirs.str(),
            theirs.annotation_str,
            theirs.kind(),
        )


def test_subtyping():
    """Subtyping of all pairs of types equals PyTorch's."""
    wrong = [
        (str(a), str(b), x.isSubtypeOf(y))
        for (x, a), (y, b) in itertools.product(PAIRS, PAIRS)
        if x.isSubtypeOf(y) != a.isSubtypeOf(b)
    ]
    assert not wrong


def _text(type):
    """Return the graph text of a type, or "None" for a missing type."""
    return "None" if type is None else type.str()


def test_unification():
    """Unification of all pairs of types, as elements of a list, equals PyTorch's."""
    wrong = []
    for (x, a), (y, b) in itertools.product(PAIRS, PAIRS):
        try:
            expected = torch._C.unify_type_list([x, y]).str()
        except RuntimeError:
            expected = "None"
        if _text(unify_list([a, b])) != expected:
            wrong.append((str(a), str(b), expected, _text(unify_list([a, b]))))
    assert not wrong
