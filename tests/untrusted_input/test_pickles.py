"""Pickles with unbounded nesting, references to themselves, or exponentially many paths."""

import io
import zipfile
from typing import Any, Dict, List

import pytest

import ts
from tests.untrusted_input.handcrafted_archives import archive, doubled, doubled_lists, load, module, nested, state, text
from ts.errors import ArchiveError

SELF_LIST = b"]q\x01h\x01a"
SELF_DICT = b"}q\x01" + text("x") + b"h\x01s"
DEEP_LIST = nested(b"]", b"a")
DEEP_TUPLE = nested(b"", b"\x85")
DEEP_DICT = nested(b"}" + text("x"), b"s")


@pytest.mark.parametrize(
    ("type", "piece"),
    [
        ("Any", SELF_LIST),
        ("Dict[str, Any]", SELF_DICT),
        ("List[Any]", SELF_LIST),
        ("Any", DEEP_LIST),
        ("Any", DEEP_TUPLE),
        ("Any", DEEP_DICT),
        ("Dict[str, Any]", DEEP_DICT),
        ("Optional[Any]", DEEP_TUPLE),
        ("Union[List[Any], int]", DEEP_LIST),
        ("int", DEEP_LIST),
        ("Any", doubled()),
        ("int", doubled()),
        ("Tensor", doubled()),
        ("Tuple[int, int]", doubled()),
        ("Union[List[List[int]], Dict[str, int]]", doubled_lists()),
        ("Any", b"}" + doubled() + b"K\x01s"),
        ("Any", b"}" + DEEP_TUPLE + b"K\x01s"),
        ("Any", b"}(" + doubled() + b"K\x01u"),
        ("Any", b"ccollections\nOrderedDict\n](" + doubled() + b"K\x01e\x85\x85R"),
        ("Device", b"ctorch\ndevice\n" + doubled() + b"\x85R"),
        ("complex", b"cbuiltins\ncomplex\n" + doubled() + b"R"),
        ("Tensor", doubled() + b"Q"),
    ],
)
def test_rejected(type, piece):
    """An invalid pickle raises `ArchiveError` at load time."""
    with pytest.raises(ArchiveError):
        load(archive(module("return 1", attributes=f"a : {type}"), state(a=piece)))


@pytest.mark.parametrize("type", ["Any", "list"])
def test_shared(type):
    """Shared containers of a pickle stay shared in the program."""
    assert load(archive(module("return 1", attributes=f"a : {type}"), state(a=doubled_lists())))() == 1


@pytest.mark.parametrize("piece", [doubled(), DEEP_TUPLE, DEEP_LIST, b"\x8a\x0a" + b"\xff" * 9 + b"\x01"])
def test_constants(piece):
    """Constants with too many elements raise `ArchiveError`, because constants are printed and compared."""
    with pytest.raises(ArchiveError, match="CONSTANTS"):
        load(archive(module("return CONSTANTS.c0"), constants=b"\x80\x02" + piece + b"\x85."))


def test_tensor_offsets():
    """A nested structure as a tensor offset is rejected with an error that does not print it."""
    tensor = (
        b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + b"ctorch\nFloatStorage\n" + text("0")
        + text("cpu") + b"K\x00tQ" + doubled() + b"K\x01\x85K\x01\x85\x89}tR"
    )  # fmt: skip
    source, data = module("return 1", attributes="a : Tensor"), state(a=tensor)
    out = io.BytesIO(archive(source, data))
    with zipfile.ZipFile(out, "a") as records:
        records.writestr("archive/data/0", b"")
    with pytest.raises(ArchiveError, match="of a tensor must be non-negative ints"):
        load(out.getvalue())


@pytest.mark.parametrize("data", [
    b"\x80\x02c__torch__\nM\n)\x81.", b"\x80\x02c__torch__\nM\n)\x81c__torch__\nM\n)\x81}" + text("a") + b"K\x01sb.",
])
def test_objects_without_attributes(data):
    """The root object, or a nested object, without attributes raises `ArchiveError`."""
    with pytest.raises(ArchiveError, match=r"an object of type __torch__\.M has no state"):
        load(archive(module("return self.a", attributes="a : int"), data))
    assert load(archive(module("return 1"), data.replace(text("a") + b"K\x01s", b"")))() == 1


def test_enum_member_references():
    """A pickled reference to an enum member must be a number or a string."""
    source = module("return 1", "class E(Enum):\n  one = 1\n", "a : __torch__.E")
    with pytest.raises(ArchiveError, match="member of E"):
        load(archive(source, state(a=b"c__torch__\nE\n" + doubled() + b"\x85R")))


def test_a_module_that_contains_itself():
    """A module attribute cannot have its own class as type; an `Any` attribute may refer to the module."""
    data = b"\x80\x02c__torch__\nM\n)\x81q\x01}" + text("a") + b"h\x01sb."
    with pytest.raises(ts.errors.CompilationError, match="Unknown type name"):
        load(archive(module("return 1", attributes="a : __torch__.M"), data))
    assert load(archive(module("return 1", attributes="a : Any"), data))() == 1


# ---- Python values with the same structures ----------------------------------------------------------------------


@ts.jit.script
def take(x: Any) -> int:
    return 1


@ts.jit.script
def take_lists(x: List[List[int]]) -> int:
    return len(x)


def holds_itself(x):
    x.append(x)
    return x


def nest(make, times=100_000):
    x = 1
    for _ in range(times):
        x = make(x)
    return x


@pytest.mark.parametrize(
    "value",
    [
        holds_itself([]),
        nest(lambda x: [x]),
        nest(lambda x: (x,)),
        nest(lambda x: {"x": x}),
        nest(lambda x: (x, x), 60),
    ],
    ids=["itself", "list", "tuple", "dict", "doubled"],
)
def test_arguments(value):
    """An argument that contains itself, or is nested too deeply, raises an error."""
    with pytest.raises((RuntimeError, TypeError)):
        take(value)
    with pytest.raises((RuntimeError, TypeError)):
        take_lists(value)


@ts.jit.script
def nest_list(n: int, x: Any) -> Any:
    for i in range(n):
        x = (x, i)
    return x


@ts.jit.script
def deep_dictionaries(n: int) -> Dict[str, Any]:
    x: Dict[str, Any] = {}
    for i in range(n):
        outer: Dict[str, Any] = {}
        outer["x"] = x
        x = outer
    return x


@ts.jit.script
def hash_deep(n: int, x: Any) -> int:
    for i in range(n):
        x = (x, i)
    return hash(x)


@ts.jit.script
def print_deep(n: int):
    x: Dict[str, Any] = {}
    for i in range(n):
        outer: Dict[str, Any] = {}
        outer["x"] = x
        x = outer
    print(x)


def test_deep_values_of_programs():
    """Deeply nested values of programs raise an error in recursive operations and can always be released."""
    for run in (lambda: nest_list(200_000, 1), lambda: deep_dictionaries(200_000), lambda: hash_deep(200_000, 1)):
        with pytest.raises(RuntimeError):
            run()
    with pytest.raises(RuntimeError):
        print_deep(200_000)
