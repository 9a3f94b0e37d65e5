"""Types: texts, equality, subtyping, unification, type variables."""

import pytest

import ts

from ts.ir.schema import parse_schema
from ts.ir.type_parser import parse_type
from ts.ir.types import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STR,
    TENSOR,
    ClassType,
    DictType,
    InterfaceType,
    ListType,
    OptionalType,
    TensorType,
    TupleType,
    UnionType,
    VarType,
    match_type_variables,
    substitute,
    unify,
    unify_list,
)


@pytest.mark.parametrize(
    ("text", "annotation"),
    [
        ("Tensor", "Tensor"),
        ("int[]", "List[int]"),
        ("Dict(str, Tensor)", "Dict[str, Tensor]"),
        ("(int, float)", "Tuple[int, float]"),
        ("()", "Tuple[()]"),
        ("int?", "Optional[int]"),
        ("Tensor?[]", "List[Optional[Tensor]]"),
        ("Scalar", "number"),
        ("Future[int]", "Future[int]"),
        ("Await(int)", "Await[int]"),
        ("Union(int, str)", "Union[int, str]"),
        ("Float(2, *, strides=[3, 1], requires_grad=0, device=cpu)", "Tensor"),
        ("Long(requires_grad=0, device=cuda:0)", "Tensor"),
        ("SymInt", "int"),
        ("NoneType", "NoneType"),
    ],
)
def test_texts_and_parsing(text, annotation):
    """A type has a graph text, which can be parsed, and an annotation text."""
    t = parse_type(text)
    assert t.str() == text
    assert t.annotation_str == annotation
    assert parse_type(t.str()) == t


def test_equality_is_structural():
    """Separately created types with equal structure are equal and have equal hashes."""
    assert ListType(DictType(STR, INT)) == ListType(DictType(STR, INT))
    assert len({OptionalType(INT), OptionalType(INT), OptionalType(FLOAT)}) == 2


def test_optional_and_union_are_normalised():
    """Optionals flatten; a union of a type and None is an optional; unifiable members merge."""
    assert OptionalType(OptionalType(INT)) == OptionalType(INT)
    assert UnionType([INT, NONE]) == OptionalType(INT)
    assert UnionType([INT, NONE, FLOAT]).str() == "Union(float, int, NoneType)"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("int", "Scalar", True),
        ("bool", "Scalar", False),
        ("NoneType", "int?", True),
        ("int", "int?", True),
        ("int[]", "int?[]", False),
        ("(int, int)", "(int?, Any)", True),
        ("Float(2, 3)", "Tensor", True),
        ("Tensor", "Float(2, 3)", False),
        ("int", "Union(int, str)", True),
        ("int?", "int", False),
    ],
)
def test_subtyping(a, b, expected):
    """Containers that can be written to are invariant, tuples covariant."""
    assert parse_type(a).isSubtypeOf(parse_type(b)) is expected


def test_unify():
    """`unify` returns the common type of a variable assigned on two paths, or None."""
    assert unify(INT, NONE) == OptionalType(INT)
    assert unify(INT, STR) is None
    assert unify(INT, STR, default_to_union=True) == UnionType([INT, STR])
    assert unify(TupleType([INT, NONE]), TupleType([NONE, INT])) == parse_type("(int?, int?)")
    assert unify(parse_type("Float(2)"), parse_type("Float(3)")) == TensorType(6, [None])
    assert unify_list([INT, NONE, INT]) == OptionalType(INT)
    assert unify_list([]) is None


def test_type_variables():
    """Type variables bind at first use; a different second type is an error; unbound variables have no
    substitution."""
    env = {}
    assert match_type_variables(ListType(VarType("t")), ListType(INT), env) is True
    assert env == {"t": INT}
    assert "previously matched" in match_type_variables(VarType("t"), STR, env)
    assert substitute(DictType(STR, VarType("t")), env) == DictType(STR, INT)
    assert substitute(VarType("u"), env) is None
    assert "Cannot match" in match_type_variables(ListType(VarType("t")), INT, {})


def test_interfaces_are_structural():
    """Classes that define an interface's methods are subtypes of the interface."""
    expected = parse_schema("one(Any self, Tensor x) -> Tensor")
    interface = InterfaceType("__torch__.I", {"one": expected})
    assert ClassType("__torch__.A", methods={"one": expected}).is_subtype_of(interface)
    assert not ClassType("__torch__.B").is_subtype_of(interface)


def test_single_instances():
    """Types without arguments are single objects."""
    assert TensorType.get() is TENSOR and type(BOOL).get() is BOOL and type(ANY).get() is ANY
    assert NUMBER.kind() == "NumberType"


def test_a_list_of_no_type():
    """`ListType` requires a type: NoneType is accepted, None is not."""
    with pytest.raises(RuntimeError, match="Can not create ListType with None type"):
        ts.types.ListType(None)
    assert ts.types.ListType(ts.types.NoneType.get()).str() == "NoneType[]"


def test_lists_of_anything_are_lists():
    def size(x: list) -> int:
        return len(x)

    script = ts.jit.script(size)
    assert script([1, 2]) == 2 and script(["a"]) == 1
    for other in (None, 3, "ab", (1, 2)):
        with pytest.raises(RuntimeError, match="Unable to cast Python instance"):
            script(other)
