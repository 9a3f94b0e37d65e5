"""Annotations of all spellings have PyTorch's types; invalid ones raise errors with a location."""

import typing
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import pytest

import ts
from ts.errors import CompilationError, FrontendError
from ts.frontend import annotations, defaults, parse, signatures
from ts.frontend.resolve import Resolver


class Point(NamedTuple):
    x: int
    rest: List[float]


Alias = Dict[str, List[int]]


def scope():
    return Resolver(globals())


def types_of(function):
    parameters, returns = signatures.signature(parse.function_def(function))
    return [p.type.str() for p in parameters], None if returns is None else returns.str()


@pytest.mark.parametrize(
    "annotation, expected",
    [
        (int, "int"),
        (float, "float"),
        (bool, "bool"),
        (complex, "complex"),
        (str, "str"),
        (None, "NoneType"),
        (Any, "Any"),
        (ts.Tensor, "Tensor"),
        (ts.dtype, "int"),
        (ts.device, "Device"),
        (List[int], "int[]"),
        (list[int], "int[]"),
        (Dict[str, ts.Tensor], "Dict(str, Tensor)"),
        (dict[str, int], "Dict(str, int)"),
        (Tuple[int, str], "(int, str)"),
        (tuple[int, str], "(int, str)"),
        (Tuple[()], "()"),
        (Optional[int], "int?"),
        (int | None, "int?"),
        (Union[int, None], "int?"),
        (Union[int, float], "Union(float, int)"),
        (List[Optional[Tuple[int, str]]], "(int, str)?[]"),
        (Alias, "Dict(str, int[])"),
        ("List[int]", "int[]"),
        (Point, "NamedTuple(x : int, rest : float[])"),
        (list, "list"),
        (tuple, "tuple"),
    ],
)
def test_objects(annotation, expected):
    """Python objects are accepted as annotations."""
    assert annotations.to_type(annotation, scope()).str() == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Tensor", "Tensor"),
        ("torch.Tensor", "Tensor"),
        ("ts.Tensor", "Tensor"),
        ("List[Tensor]", "Tensor[]"),
        ("typing.List[int]", "int[]"),
        ("Optional[Dict[int, str]]", "Dict(int, str)?"),
        ("Tuple[int, Tuple[float, str]]", "(int, (float, str))"),
        ("int | None", "int?"),
        ("Union[int, str]", "Union(int, str)"),
        ("'List[int]'", "int[]"),
        ("torch.device", "Device"),
        ("Point", "NamedTuple(x : int, rest : float[])"),
        ("Alias", "Dict(str, int[])"),
        ("None", "NoneType"),
    ],
)
def test_syntax(text, expected):
    """An annotation in source text is parsed without imports of `List` and `torch`."""
    (parsed,) = parse.module_defs(
        f"def f(x: {text}):\n    return x\n", Resolver({"Point": Point, "Alias": Alias})
    )
    (parameter,), returns = signatures.signature(parsed)
    assert parameter.type.str() == expected
    assert returns is None


def test_signature():
    """A default must have the type of its parameter; a parameter without annotation is a Tensor."""

    def f(x, n: int = 3, *, scale: float):
        return x

    parameters, returns = signatures.signature(parse.function_def(f))
    assert [(p.name, p.type.str(), p.kw_only) for p in parameters] == [
        ("x", "Tensor", False),
        ("n", "int", False),
        ("scale", "float", True),
    ]
    assert [p.default for p in parameters] == [defaults.NO_DEFAULT, 3, defaults.NO_DEFAULT]
    assert returns is None


def test_int_default_of_a_float():
    def f(x: float = 1, y: Optional[int] = None, z: Tuple[int, int] = (1, 2)) -> float:
        return x

    parameters, _ = signatures.signature(parse.function_def(f))
    assert [p.default for p in parameters] == [1.0, None, (1, 2)]
    assert isinstance(parameters[0].default, float)


def test_type_comment():
    def f(x, y):
        # type: (int, List[str]) -> Tuple[int, Optional[Tensor]]
        return x, None

    assert types_of(f) == (["int", "str[]"], "(int, Tensor?)")


def test_type_comment_by_argument():
    def f(
        x,  # type: int
        y,  # type: Dict[str, Tensor]
    ):
        # type: (...) -> int
        return x

    assert types_of(f) == (["int", "Dict(str, Tensor)"], "int")


def test_type_ignore_is_no_annotation():
    def f(x, y: int):  # type: ignore
        return x

    assert types_of(f) == (["Tensor", "int"], None)


def test_postponed_annotations():
    """Annotations are read from the source, so `from __future__ import annotations` has no effect."""
    namespace = {}
    text = "from __future__ import annotations\ndef f(x: list[int]) -> int | None:\n    return None\n"
    import linecache

    linecache.cache["<postponed>"] = (len(text), None, text.splitlines(True), "<postponed>")
    exec(compile(text, "<postponed>", "exec"), namespace)
    assert types_of(namespace["f"]) == (["int[]"], "int?")


def test_module_named_typing():
    def f(x: typing.Dict[str, typing.Optional[int]]) -> typing.Any:
        return x

    assert types_of(f) == (["Dict(str, int?)"], "Any")


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "List",
            "Attempted to use List without a contained type. Please add a contained type, e.g. List[int]",
        ),
        ("Dict", "Attempted to use Dict without contained types"),
        ("Tuple", "Attempted to use Tuple without a contained type"),
        ("Optional", "Attempted to use Optional without a contained type"),
        ("Zork", "Unknown type name 'Zork'"),
        ("'Zork'", "Unknown type name 'Zork'"),
        ("bytes", "Unknown type name 'bytes'"),
        ("dict", "Unknown type name 'dict'"),
        ("torch.Zork", "Unknown type name 'torch.Zork'"),
        ("Set[int]", "Unknown type constructor Set"),
        ("Tuple[int, ...]", "Expression of type dots cannot be used in a type expression"),
        ("Dict[List[int], int]", "Cannot create dict for key type 'int[]'"),
    ],
)
def test_rejected(text, message):
    """The error for an invalid annotation names it and underlines it."""
    (parsed,) = parse.module_defs(f"def f(x: {text}):\n    return x\n", Resolver({}))
    with pytest.raises(CompilationError, match=__import__("re").escape(message)) as failure:
        signatures.signature(parsed)
    assert "~ <--- HERE" in str(failure.value)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ("x: int = 'a'", "annotated as having type Tuple[int] but is actually of type Tuple[str]"),
        ("x: float = 1, y: str = 'a'", "having type Tuple[float, str] but is actually of type Tuple[int, str]"),
        ("x=1", "Keyword arguments with defaults need to be type-hinted"),
        ("x: int = None", "annotated as having type Tuple[int] but is actually of type Tuple[NoneType]"),
        ("x: Dict[str, int] = {}", "but is actually of type Tuple[Dict[str, Tensor]]"),
    ],
)
def test_rejected_defaults_in_text(parameters, message):
    """Defaults in source text are checked together, as a tuple."""
    (parsed,) = parse.module_defs(f"def f({parameters}):\n    return x\n", Resolver({}))
    with pytest.raises(FrontendError, match=__import__("re").escape(message)):
        signatures.signature(parsed)


def test_defaults_in_text():
    """Lists and arithmetic are valid defaults in source text, in which calls share no default object."""
    (parsed,) = parse.module_defs("def f(x: List[int] = [1, 2], y: int = 1 + 2 * 3):\n    return x\n", Resolver({}))
    parameters, _ = signatures.signature(parsed)
    assert [parameter.default for parameter in parameters] == [[1, 2], 7]
    with pytest.raises(FrontendError, match="undefined value n"):
        parse.module_defs("def f(x: int = n):\n    return x\n", Resolver({}))


def test_rejected_defaults():
    """A default of a Python function must have the type of the parameter and must not be a list."""

    def text(x: int = "a"):
        return x

    def inferred(x=1):
        return x

    def mutable(x: List[int] = []):
        return x

    for function, message in (
        (text, 'Expected a default value of type int on parameter "x"'),
        (inferred, "Because \"x\" was not annotated with an explicit type it is assumed to be type 'Tensor'"),
        (mutable, "Mutable default parameters are not supported"),
    ):
        with pytest.raises(RuntimeError, match=message):
            ts.jit.script(function)


def test_count_of_types_in_a_comment():
    """The number of types in a type comment is checked before the types; `self` is not counted."""

    class Net(ts.nn.Module):
        def forward(self, x, y):
            # type: (Net, Tensor, int) -> Tensor
            return x + y

    with pytest.raises(RuntimeError, match=r"annotations \(3\) did not match the number of method parameters \(2\)"):
        ts.jit.script(Net())


def test_invalid_number_in_comment():
    (parsed,) = parse.module_defs("def f(x, y):\n    # type: (int) -> int\n    return x\n", Resolver({}))
    with pytest.raises(CompilationError, match=r"Number of type annotations \(1\) did not match"):
        signatures.signature(parsed)


def test_a_broadcasting_list_takes_one_number():
    """`BroadcastingList2[int]` is `int[2]` in the schema, in every spelling, for callers on both sides."""
    from ts.jit.annotations import BroadcastingList2, BroadcastingList3

    @ts.jit.script
    def pair(n: BroadcastingList2[int], f: BroadcastingList3[float] = 0.5):
        return n, f

    @ts.jit.script
    def calls():
        return pair(3), pair((1, 2), 1.0)

    @ts.jit.script
    def optional(n: Optional[BroadcastingList2[int]] = None):
        return n

    assert str(pair.schema) == "pair(int[2] n, float[3] f=[0.5, 0.5, 0.5]) -> ((int[], float[]))"
    assert pair(4) == ([4, 4], [0.5, 0.5, 0.5])
    assert pair((4, 5), [1, 2, 3]) == ([4, 5], [1.0, 2.0, 3.0])
    assert calls() == (([3, 3], [0.5, 0.5, 0.5]), ([1, 2], [1.0, 1.0, 1.0]))
    assert optional(3) == [3, 3] and optional() is None


@pytest.mark.parametrize(
    "annotation, message",
    [
        ("BroadcastingListx[int]", "subscript of Broadcastable list must be a positive integer"),
        ("BroadcastingList2[str]", "Broadcastable lists only supported for int or float"),
        ("List[BroadcastingList2[int]]", "Unknown type constructor BroadcastingList2"),
        ("int[2]", "Unknown type constructor int"),
        ("Tuple[(int,)]", "Tuple literal in Tuple type annotation must not have any elements"),
    ],
)
def test_broadcasting_lists_in_other_annotations_are_rejected(annotation, message):
    with pytest.raises(RuntimeError, match=message):
        ts.jit.CompilationUnit(f"def f(x: {annotation}):\n    return x")


def test_indented_source_text():
    """Source text may be indented; error locations refer to the indented text."""
    unit = ts.jit.CompilationUnit("""
        def f(x: Tuple[()]) -> Tuple[()]:
            return x
        def g(x):
            return x + 1
    """)
    assert unit.f(()) == () and str(unit.g.schema) == "g(Tensor x) -> Tensor"
    with pytest.raises(RuntimeError) as caught:
        ts.jit.CompilationUnit("\n    def f(x: 3):\n        return x")
    assert "line 2" in str(caught.value) and "             ~ <--- HERE" in str(caught.value)


def test_annotations_as_objects():
    """Types of `ts.jit.annotations` equal those of `ts.types`."""
    from ts import Tensor
    from ts.jit.annotations import ann_to_type, get_signature, try_ann_to_type
    from ts.types import IntType, ListType

    assert try_ann_to_type(List[int], None) == ListType(IntType.get())
    assert try_ann_to_type(scope) is None
    with pytest.raises(ValueError, match="Unknown type annotation"):
        ann_to_type(scope)

    def f(x: int, y: Tensor) -> str:
        return ""

    assert [t.str() for t in get_signature(f)[0]] == ["int", "Tensor"]
    assert ts.jit.get_callable_argument_names(f) == ["x", "y"]
    assert ts.jit.is_optional(Optional[int]) and not ts.jit.is_optional(Union[int, str])
    assert ts.types.parse_schema("f(int[2] n) -> int").arguments[0].N == 2


def test_sizes():
    """`_size_2_t` is `int[2]` as an argument annotation, and a union inside of another type."""
    from ts.nn.common_types import _size_2_t

    @ts.jit.script
    def total(x: _size_2_t) -> int:
        return x[0] + x[1]

    @ts.jit.script
    def first(xs: List[_size_2_t]) -> bool:
        return isinstance(xs[0], int)

    assert str(total.schema) == "total(int[2] x) -> int"
    assert total(4) == 8
    assert total([1, 2]) == 3
    assert first([1]) and not first([(1, 2)])
